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

/** How long between two questions whether it is done. */
const askAgainMs = 400

/** What takes the server a while: asked for again until it is done. */
export interface Making {
  readonly state: 'running' | 'done' | 'failed'
  readonly problem: string | null
}

/** `key`: another value is another question. */
export function useMade<T extends Making>(path: string, wish: object, key: string): Made<T> {
  const { source } = usePage()
  const [answer, setAnswer] = useState<{ readonly key: string; readonly made: Made<T> } | null>(null)
  useEffect(() => {
    const current = { is: true }
    const ask = async (): Promise<void> => {
      const asked = await source.ask<T>(path, wish)
      if (!current.is) return
      if (!asked.ok) return setAnswer({ key, made: { state: 'failed', problem: asked.problem } })
      setAnswer({ key, made: asked.value })
      if (asked.value.state === 'running') setTimeout(() => current.is && void ask(), askAgainMs)
    }
    void ask()
    return () => void (current.is = false)
  }, [path, key])
  return answer?.key === key ? answer.made : { state: 'running', problem: null }
}
type Made<T> = T | (Making & { readonly state: 'running' | 'failed' })

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
