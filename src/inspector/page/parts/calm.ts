// A value that changes often, taken over at a pace that leaves the page free: small ones soon, large ones now and then.
import { useEffect, useRef, useState } from 'preact/hooks'

/** Above so many rows a chart takes longer to draw than one wants to wait for each append. */
const many = 3000
const paceMs = { few: 60, many: 600 } as const

/** The value as it was at most a pace ago; `size` says how costly it is to take it over. */
export function useCalm<T>(value: T, size: number): T {
  const [calm, setCalm] = useState(value)
  const last = useRef(0)
  useEffect(() => {
    if (value === calm) return
    const pace = size < many ? paceMs.few : paceMs.many
    const timer = setTimeout(
      () => {
        last.current = performance.now()
        setCalm(value)
      },
      Math.max(0, last.current + pace - performance.now()),
    )
    return () => clearTimeout(timer)
  }, [value])
  return calm
}
