// A value that changes often, taken over at a pace that leaves the page free: small ones soon, large ones now and then.
import { useEffect, useRef, useState } from 'preact/hooks'

/** The more rows a chart has, the longer it takes to draw, and the less one more of them changes it. */
const paces: readonly (readonly [upTo: number, paceMs: number])[] = [
  [3000, 60],
  [30_000, 300],
  [Number.POSITIVE_INFINITY, 1500],
]

/** The value as it was at most a pace ago; `size` says how costly it is to take it over. */
export function useCalm<T>(value: T, size: number): T {
  const [calm, setCalm] = useState(value)
  const last = useRef(0)
  useEffect(() => {
    if (value === calm) return
    const pace = paces.find(([upTo]) => size < upTo)?.[1] ?? 0
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
