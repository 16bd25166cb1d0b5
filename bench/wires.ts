// Random sessions of every wire: `npm run bench -- wires [--cases 10000] [--wire NAME] [--json]`. Each session is composed request by request
// (the law of prefixes is held on the way), its last request is damaged, repaired, and judged by the rules of the wire and by
// the simulator's dialect, which shares no code with them. Baseline in the same run: the damaged request unrepaired.
import * as fc from 'fast-check'
import { arbitraryMoves, type Move } from '../src/testing/arbitrary.ts'
import { cachedBytes, forkOf, requestsOf, sessionOf, type WireSubject } from '../src/testing/wire-subject.ts'
import { anthropicSubject } from '../test/wires/anthropic-subject.ts'
import { geminiSubject } from '../test/wires/gemini-subject.ts'
import { openAiChatSubject } from '../test/wires/openai-chat-subject.ts'
import { openAiResponsesSubject } from '../test/wires/openai-responses-subject.ts'

const flag = (name: string): string | null => {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? null : (process.argv[at + 1] ?? '')
}
const cases = Number(flag('cases') ?? 10_000)
const seed = Number(flag('seed') ?? 20_261_116)
const only = flag('wire')
const subjects = [anthropicSubject, openAiChatSubject, openAiResponsesSubject, geminiSubject].filter(
  ({ wire }) => only === null || wire.name === only,
)

interface Tally {
  readonly wire: string
  sessions: number
  requests: number
  refusedWhole: number
  prefixes: number
  forks: number
  brokenPrefixes: number
  damaged: number
  refusedUnrepaired: number
  refusedRepaired: number
  changedTwice: number
  seconds: number
  first: string | null
}

const isPlain = ({ move }: Move): boolean =>
  ['say', 'answer', 'result', 'crash', 'attach', 'end'].includes(move)

/** Why a body would not be taken, or null. */
function refusal(subject: WireSubject, body: string, model: string): string | null {
  const found = subject.wire.check(JSON.parse(body), { model }).find(({ rule }) => rule !== 'same-role')
  return found === undefined ? (subject.judge?.(body, model) ?? null) : `${found.rule}: ${found.what}`
}

function prefixesOf(subject: WireSubject, moves: readonly Move[], tally: Tally): void {
  const bare = (body: string): string => subject.withoutMarks?.(body) ?? body
  const begins = (body: string, cached: string): boolean => bare(body).startsWith(cached)
  const requests = requestsOf(subject, moves.filter(isPlain))
  for (const [index, next] of requests.entries()) {
    const before = requests[index - 1]
    const cached = before === undefined ? null : cachedBytes(subject, before.composed)
    if (before === undefined || cached === null) continue
    if (before.parameters.model !== next.parameters.model) continue
    tally.prefixes++
    if (!begins(next.composed.body, cached)) tally.brokenPrefixes++
  }
}

/** One fork of each session, from the request that is picked, edits and all. */
function forked(
  subject: WireSubject,
  { entries, requests }: ReturnType<typeof sessionOf>,
  pick: number,
  tally: Tally,
): void {
  const parent = requests[pick % Math.max(1, requests.length)]
  const cached = parent === undefined ? null : cachedBytes(subject, parent.composed)
  if (parent === undefined || cached === null) return
  tally.forks++
  const { body } = forkOf(subject, entries, parent)
  if (!(subject.withoutMarks?.(body) ?? body).startsWith(cached)) tally.brokenPrefixes++
  const why = refusal(subject, body, parent.parameters.model)
  if (why === null) return
  tally.refusedWhole++
  tally.first ??= why
}

function play(subject: WireSubject, moves: readonly Move[], picks: readonly number[], tally: Tally): void {
  tally.sessions++
  prefixesOf(subject, moves, tally)
  const session = sessionOf(subject, moves)
  const { requests } = session
  forked(subject, session, picks[0]!, tally)
  for (const { composed, parameters } of requests) {
    tally.requests++
    const why = refusal(subject, composed.body, parameters.model)
    if (why === null) continue
    tally.refusedWhole++
    tally.first ??= why
  }
  const last = requests.at(-1)
  if (last === undefined || subject.damage === undefined) return
  const target = { model: last.parameters.model }
  let turn = 0
  const pick = (below: number): number => picks[turn++ % picks.length]! % Math.max(1, below)
  const broken = subject.damage(JSON.parse(last.composed.body), pick)
  tally.damaged++
  if (refusal(subject, JSON.stringify(broken), target.model) !== null) tally.refusedUnrepaired++
  const once = subject.wire.repair(broken, target)
  const why = refusal(subject, JSON.stringify(once.request), target.model)
  if (why !== null) {
    tally.refusedRepaired++
    tally.first ??= why
  }
  if (subject.wire.repair(once.request, target).repairs.length > 0) tally.changedTwice++
}

const tallies = subjects.map((subject) => {
  const tally: Tally = {
    wire: subject.wire.name,
    sessions: 0,
    requests: 0,
    refusedWhole: 0,
    prefixes: 0,
    forks: 0,
    brokenPrefixes: 0,
    damaged: 0,
    refusedUnrepaired: 0,
    refusedRepaired: 0,
    changedTwice: 0,
    seconds: 0,
    first: null,
  }
  const began = performance.now()
  const arbitrary = fc.tuple(arbitraryMoves(fc), fc.array(fc.nat(), { minLength: 8, maxLength: 40 }))
  // A session that never asks is no case. In portions: all at once would not fit into memory.
  for (let portion = 0; tally.damaged < cases; portion++) {
    for (const [moves, picks] of fc.sample(arbitrary, { numRuns: 200, seed: seed + portion }))
      if (tally.damaged < cases) play(subject, moves, picks, tally)
    if (process.stderr.isTTY) process.stderr.write(`\r${tally.wire}: ${tally.damaged} of ${cases}   `)
  }
  tally.seconds = Math.round((performance.now() - began) / 1000)
  return tally
})
if (process.stderr.isTTY) process.stderr.write('\r\n')

if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify(tallies, null, 2)}\n`)
else
  for (const each of tallies)
    process.stdout.write(
      `${each.wire}: ${each.sessions} sessions, ${each.requests} requests, ${each.refusedWhole} refused; ` +
        `${each.prefixes} pairs of requests and ${each.forks} forks, ${each.brokenPrefixes} prefixes broken; ` +
        `${each.damaged} damaged, ${each.refusedUnrepaired} refused as they are, ${each.refusedRepaired} after repair, ` +
        `${each.changedTwice} changed by a second repair; ${each.seconds} s\n`,
    )
const failed = tallies.filter(
  (each) => each.refusedWhole + each.brokenPrefixes + each.refusedRepaired + each.changedTwice > 0,
)
for (const { wire, first } of failed) process.stderr.write(`${wire}: ${first ?? 'see the counts'}\n`)
process.exitCode = failed.length === 0 ? 0 : 1
