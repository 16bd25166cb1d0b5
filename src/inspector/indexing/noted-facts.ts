// The rare facts, as the index lists them: where a session comes from, breaks, agents, memories.
import { defaults } from '../../settings/defaults.ts'
import { textIn } from '../../transcript/content.ts'
import { isEditing, isRealInput, type Entry, type FactOf } from '../../transcript/fact.ts'
import { seq as toPlace } from '../../transcript/ids.ts'
import { previousRequest, type IndexLists, type IndexParts } from './index-rows.ts'

export function noteFact({ lists, requests }: IndexParts, { seq, at, fact }: Entry): void {
  if (isEditing(fact)) lists.pending.push({ seq, freed: Math.max(0, fact.tokensFreed) })
  if (isRealInput(fact) && lists.title === '')
    lists.title = textIn(fact.content, ' ').replace(/\s+/gu, ' ').trim().slice(0, titleChars).toWellFormed()
  switch (fact.type) {
    case 'session-start':
      lists.purpose = fact.purpose
      lists.cwd = fact.cwd ?? null
      lists.startedBy = fact.startedBy ?? null
      lists.imported = fact.imported ?? null
      lists.parent =
        fact.parent === undefined ? null : { session: fact.parent.session, upTo: fact.parent.upTo }
      break
    case 'cache-break': {
      const row = requests.length - 1
      if (row >= 0) requests.set(row, 'break', seq)
      lists.breaks.push({
        seq,
        at,
        source: fact.source,
        request: row < 0 ? null : requests.get(row, 'seq'),
        previous: previousRequest(requests, row),
        tokens: fact.tokens,
        cost: fact.cost,
        causes: fact.causes,
        diff: fact.diff ?? null,
        provider: fact.provider ?? null,
      })
      break
    }
    case 'agent-start':
      lists.agents.push({
        child: fact.child,
        label: fact.label,
        agent: fact.agent,
        mode: fact.mode,
        worktree: fact.worktree ?? null,
        started: { seq, at },
        ended: null,
        outcome: null,
        report: '',
        tokens: 0,
        dollars: 0,
      })
      break
    case 'fork-end':
      forkEnded(lists, seq, at, fact)
      break
    case 'memory-recall':
      lists.recalls.push({ seq, at, files: fact.files })
      break
    case 'memories-extracted':
      if (fact.files.length > 0)
        lists.extracted.push({ from: toPlace(lists.extractedTo + 1), to: fact.coversTo, files: fact.files })
      lists.extractedTo = fact.coversTo
      break
    default:
      break
  }
}

const { titleChars } = defaults.inspector

function forkEnded(lists: IndexLists, seq: number, at: number, fact: FactOf<'fork-end'>): void {
  const { tokens, dollars } = fact.spent ?? { tokens: 0, dollars: 0 }
  lists.spent.tokens += tokens
  lists.spent.dollars += dollars
  const begun = lists.agents.findLast(({ child }) => child === fact.child)
  const row = begun ?? {
    child: fact.child,
    label: fact.purpose,
    agent: fact.purpose,
    mode: 'fork',
    worktree: null,
    started: null,
    ended: null,
    outcome: null,
    report: '',
    tokens: 0,
    dollars: 0,
  }
  if (begun === undefined) lists.agents.push(row)
  row.ended = { seq, at }
  row.outcome = fact.outcome
  row.report = fact.text.slice(0, defaults.inspector.excerptChars).toWellFormed()
  row.tokens += tokens
  row.dollars += dollars
}
