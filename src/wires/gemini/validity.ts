// Which rules of the Gemini API a request breaks. One function a rule; it shares the tables of `request` with the repair and
// none of its logic, so that it can be its witness.
import { isDeeplyWellFormed } from '../../request/well-formed.ts'
import { fieldsOf, listOf, textOf, type Fields } from '../reading.ts'
import { eachIn, problem } from '../repairing.ts'
import type { WireProblem, WireTarget } from '../wire.ts'
import { asksSignatures } from './models.ts'
import {
  callOf,
  callsIn,
  isEmptyPart,
  partsOf,
  resultsIn,
  contentRole,
  signatureOf,
  turnStart,
  type GeminiRequest,
} from './request.ts'

type Rule = (contents: readonly Fields[], target: WireTarget) => readonly WireProblem[]

const eachContent = eachIn('contents')

const someContent: Rule = (contents) =>
  contents.length > 0 ? [] : [problem('some-content', 'contents', 'there is none')]
const knownRole = eachContent('role', (content) =>
  ['user', 'model'].includes(contentRole(content)) ? null : `no role: ${contentRole(content)}`,
)
const firstUser = eachContent('first-user', (content, at) =>
  at > 0 || contentRole(content) === 'user' ? null : 'the first content is not the user’s',
)
const alternation = eachContent('same-role', (content, at, all) =>
  at > 0 && contentRole(all[at - 1]!) === contentRole(content)
    ? 'the content before has the same role'
    : null,
)
const emptyPart = eachContent('empty-part', (content) => {
  const { parts } = content
  if (!Array.isArray(parts) || parts.length === 0) return 'it has no parts'
  return parts.some((part) => fieldsOf(part) === null || isEmptyPart(fieldsOf(part)!))
    ? 'a part is empty'
    : null
})
const misplaced = eachContent('misplaced', (content) => {
  if (contentRole(content) === 'user' && callsIn(content).length > 0) return 'a user calls nothing'
  return contentRole(content) === 'model' && resultsIn(content).length > 0 ? 'a model answers no call' : null
})
const pairing = eachContent('pairing', (content, at, all) => {
  const asked = at === 0 ? [] : callsIn(all[at - 1]!)
  const given = resultsIn(content)
  if (contentRole(content) === 'user' && asked.length !== given.length)
    return `${given.length} results for ${asked.length} calls`
  if (at === all.length - 1 && callsIn(content).length > 0) return 'its calls have no results'
  const strange = given.findIndex((response, index) => {
    const call = asked[index]
    // Of a role that answers nothing; the rules of roles say so.
    if (call === undefined) return true
    const [a, b] = [textOf(call['id']), textOf(response['id'])]
    return call['name'] !== response['name'] || (a !== null && b !== null && a !== b)
  })
  return strange < 0 ? null : `result ${strange} is not that of its call`
})
const lastUser = eachContent('last-user', (content, at, all) =>
  at < all.length - 1 || contentRole(content) === 'user' ? null : 'the last content is an answer',
)
const uniqueCalls = eachContent('call-id', (content) => {
  const ids = callsIn(content).flatMap((call) => textOf(call['id']) ?? [])
  return new Set(ids).size < ids.length ? 'two calls have one id' : null
})
const responseShape = eachContent('response', (content) =>
  resultsIn(content).every((response) => fieldsOf(response['response']) !== null)
    ? null
    : 'a response is no object',
)
const signatures: Rule = (contents, { model, quirks }) => {
  if (!(quirks?.signatures ?? asksSignatures(model))) return []
  const start = turnStart(contents)
  return contents.flatMap((content, at) => {
    const first = at > start ? partsOf(content).find((part) => callOf(part) !== null) : undefined
    return first !== undefined && signatureOf(first) === null
      ? [problem('signature', `contents.${at}`, 'its first call has no signature')]
      : []
  })
}
const wellFormed = eachContent('lone-surrogate', (content) =>
  isDeeplyWellFormed(content) ? null : 'half a character',
)

const rules: readonly Rule[] = [
  someContent,
  knownRole,
  firstUser,
  lastUser,
  alternation,
  emptyPart,
  misplaced,
  pairing,
  uniqueCalls,
  responseShape,
  signatures,
  wellFormed,
]

/** Every rule of the Gemini API that a request breaks. */
export function checkGemini(request: GeminiRequest, target: WireTarget): readonly WireProblem[] {
  return rules.flatMap((rule) => rule(listOf(request.contents), target))
}
