// The caller's own functions, as `fit` asks them. One that throws, or answers what nothing can be made of, is a failure of the
// whole call with its name: what was decided with its answer missing would be another list than the caller wanted.
import type { FitFailure, FitOptions } from './contract.ts'
import { badOption } from './setting.ts'

export interface Guarded {
  readonly options: FitOptions
  /** What one of them has done wrong so far. */
  readonly failure: () => FitFailure | null
}

export function guarded(options: FitOptions): Guarded {
  let failed: FitFailure | null = null
  const fail = (name: string, what: string): void => {
    failed ??= badOption(`the option \`${name}\` ${what}`)
  }
  /** Its answer where that is of the kind that is wanted, else what stands in for it until the call ends. */
  function ask<Answer>(name: string, call: () => unknown, wanted: Kind<Answer>): Answer {
    try {
      const answer = call()
      if (wanted.fits(answer)) return answer
      fail(name, `answered with ${kindOf(answer)}; it takes a function that returns ${wanted.name}`)
    } catch (error) {
      fail(name, `threw: ${error instanceof Error ? error.message : String(error)}`)
    }
    return wanted.none
  }
  // Programs without types hand in what is no function; that is said before any of them is asked.
  const { pins, wayBack } = options
  return {
    options: {
      ...options,
      pins:
        typeof pins === 'function'
          ? (message, at) => Boolean(ask('pins', () => pins(message, at), choice))
          : pins,
      wayBack: typeof wayBack === 'function' ? (ref) => ask('wayBack', () => wayBack(ref), text) : wayBack,
    },
    failure: () => failed,
  }
}

interface Kind<Answer> {
  readonly name: string
  readonly fits: (answer: unknown) => answer is Answer
  readonly none: Answer
}
const text: Kind<string> = { name: 'a text', fits: (answer) => typeof answer === 'string', none: '' }
/** A promise would always be true. */
const choice: Kind<unknown> = {
  name: 'true or false',
  fits: (answer): answer is unknown => !(answer instanceof Promise),
  none: false,
}

const kindOf = (answer: unknown): string =>
  answer instanceof Promise ? 'a promise' : answer === null ? 'null' : `a value of type ${typeof answer}`
