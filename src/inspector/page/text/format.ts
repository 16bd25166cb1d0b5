// Every number and time of the page is written here, in the manner of the command line: 5,485 · 12.3K · $0.05 · −$0.02 · 98.4%.

export const whole = (value: number): string =>
  Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ',')

/** Tokens in as few characters as tell them apart: 950, 5.5K, 203K, 1M. */
export function short(tokens: number): string {
  if (tokens < 1000) return String(Math.round(tokens))
  return tokens < 999_500
    ? `${(tokens / 1000).toFixed(tokens < 9950 ? 1 : 0)}K`
    : `${(tokens / 1_000_000).toFixed(tokens % 1_000_000 === 0 ? 0 : 2)}M`
}

/** Money; what has no price is a question mark, never 0. */
export function dollars(value: number | null): string {
  if (value === null || Number.isNaN(value)) return '?'
  const size = Math.abs(value)
  return `${value < 0 ? '−' : ''}$${size.toFixed(size < 0.1 ? 4 : 2)}`
}

export const percent = (share: number): string =>
  Number.isNaN(share) ? '?' : `${(share * 100).toFixed(share > 0 && share < 0.01 ? 2 : 1)}%`

/** A time as people read it: 8s, 1m 05s, 2h 03m. */
export function duration(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (seconds < 60) return `${seconds}s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${two(seconds % 60)}s`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h ${two(Math.floor((seconds % 3600) / 60))}m`
  return `${Math.floor(seconds / 86_400)}d ${Math.floor((seconds % 86_400) / 3600)}h`
}

export const bytes = (count: number): string => {
  if (count < 1024) return `${count} B`
  return count < 1024 * 1024 ? `${(count / 1024).toFixed(1)} KB` : `${(count / 1024 / 1024).toFixed(1)} MB`
}

/** Local time of day, to the second; what is no time is a question mark. */
export const clock = (ms: number): string => {
  const at = new Date(ms)
  if (Number.isNaN(at.getTime())) return '?'
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`
}

/** Local date and time, to the minute. */
export const moment = (ms: number): string => {
  const at = new Date(ms)
  if (Number.isNaN(at.getTime())) return '?'
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`
}

/** `1 request`, `1,204 requests`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${whole(count)} ${count === 1 ? one : many}`

const two = (value: number): string => String(value).padStart(2, '0')
