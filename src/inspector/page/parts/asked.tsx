// What a screen asks the server for: waiting, there, or a problem in words. What is there stays while it is asked again.
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { usePage } from '../data/state.ts'

export type Asked<T> =
  | { readonly state: 'waiting' }
  | { readonly state: 'there'; readonly value: T }
  | { readonly state: 'failed'; readonly problem: string }

/** `turn`: another value asks again. */
export function useAsked<T>(path: string | null, turn: unknown = 0): Asked<T> {
  const { source } = usePage()
  const [asked, setAsked] = useState<Asked<T> & { readonly path?: string | null }>({ state: 'waiting' })
  useEffect(() => {
    if (path === null) return
    const current = { is: true }
    void source.json<T>(path).then((answer) => {
      if (!current.is) return
      if (answer.ok) setAsked({ state: 'there', value: answer.value, path })
      else setAsked({ state: 'failed', problem: answer.problem, path })
    })
    return () => void (current.is = false)
  }, [path, turn])
  return asked.path === path ? asked : { state: 'waiting' }
}

export function Shown<T>({
  asked,
  children,
}: {
  readonly asked: Asked<T>
  readonly children: (value: T) => ComponentChildren
}) {
  if (asked.state === 'waiting') return <p class="waiting">Loading…</p>
  if (asked.state === 'failed')
    return (
      <p class="problem" role="alert">
        {asked.problem}
      </p>
    )
  return <>{children(asked.value)}</>
}
