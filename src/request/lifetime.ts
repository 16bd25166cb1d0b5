// How long what a request writes stays cached. Who may have the long lifetime, and for which sources, is
// asked at the first request and then stands for the session: an answer that changed on the way would change the
// price of everything that is cached, and a long mark may not follow a short one.
import { defaults } from '../settings/defaults.ts'
import type { Lifetime } from './segments.ts'

export interface LifetimeAnswers {
  /** The account may have the long lifetime, or the user asked for it. */
  readonly isLong: boolean
  /** Sources that get it: a name, or the beginning of one followed by `*`. */
  readonly sources: readonly string[]
}

export interface LifetimeQuestions {
  readonly isEligible: () => boolean
  readonly optedIn: () => boolean
  readonly sources?: (() => readonly string[]) | undefined
  /** What an earlier run of this session had latched. */
  readonly latched?: LifetimeAnswers | undefined
}

export interface LatchedLifetime {
  of(source: string): Lifetime
  /** To be kept with the session; null before the first request. */
  answers(): LifetimeAnswers | null
}

export function createLifetime(questions: LifetimeQuestions): LatchedLifetime {
  let answers = questions.latched ?? null
  return {
    of: (source) => {
      answers ??= {
        isLong: questions.isEligible() || questions.optedIn(),
        sources: questions.sources?.() ?? defaults.request.longLifetimeSources,
      }
      return answers.isLong && answers.sources.some((pattern) => fits(pattern, source)) ? '1h' : '5m'
    },
    answers: () => answers,
  }
}

const fits = (pattern: string, source: string): boolean =>
  pattern.endsWith('*') ? source.startsWith(pattern.slice(0, -1)) : source === pattern
