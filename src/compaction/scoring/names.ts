// What is known of a name from what was said so far: how often and how lately it was seen, used by calls, edited, said.
// These numbers are all that the score sees of it; nothing here knows the future or a language.

export interface NameCounts {
  /** Answers given before it was first and last seen, and last used by a call; -1 where no call has. */
  first: number
  last: number
  lastUse: number
  seen: number
  uses: number
  edits: number
  said: number
  typed: number
  errors: number
  /** Subjects (files, commands, messages) it stands under, and the last of them. */
  subjects: number
  subject: number
}

export const newCounts = (first: number): NameCounts => ({
  first,
  last: first,
  lastUse: -1,
  seen: 0,
  uses: 0,
  edits: 0,
  said: 0,
  typed: 0,
  errors: 0,
  subjects: 0,
  subject: -1,
})

/** In the order of the weights. */
export const nameFeatures = [
  'always',
  'answers since it was seen',
  'answers since it was first seen',
  'used by a call',
  'answers since a call used it',
  'times seen',
  'uses',
  'edits',
  'said by the model',
  'said by the user',
  'in error lines',
  'is a path',
  'is a file name',
  'is a number',
  'is a hash',
  'length',
  'uses for each time seen',
  'used in the last ten answers',
  'subjects it stands under',
  'answers since its last subject was worked on',
  'work on its last subject',
  'answers so far',
] as const

const fileName = /\.[A-Za-z][A-Za-z0-9]{0,5}$/
const number = /^[\d.,:-]+$/
const hash = /^(?=.*\d)(?=.*[a-f])[0-9a-f]{7,64}$/
const lately = 10

const log = Math.log1p

export function nameValues(
  name: string,
  counts: NameCounts,
  {
    now,
    subjectAge,
    subjectWork,
  }: { readonly now: number; readonly subjectAge: number; readonly subjectWork: number },
): readonly number[] {
  const used = counts.uses > 0
  const isPath = name.includes('/')
  const isNumber = number.test(name)
  return [
    1,
    log(now - counts.last),
    log(now - counts.first),
    used ? 1 : 0,
    used ? log(now - counts.lastUse) : 0,
    log(counts.seen),
    log(counts.uses),
    log(counts.edits),
    log(counts.said),
    log(counts.typed),
    log(counts.errors),
    isPath ? 1 : 0,
    !isPath && fileName.test(name) ? 1 : 0,
    isNumber ? 1 : 0,
    !isNumber && hash.test(name) ? 1 : 0,
    log(name.length),
    counts.uses / (1 + counts.seen),
    used && now - counts.lastUse <= lately ? 1 : 0,
    log(counts.subjects),
    log(subjectAge),
    log(subjectWork),
    log(now),
  ]
}
