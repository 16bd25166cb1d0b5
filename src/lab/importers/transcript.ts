// Our own transcripts, read back as recordings, so that a session of ours is replayed like any other. What was taken
// back by a rewind is not part of the conversation; edits are decisions of a policy and not part of what happened.
import { decode } from '../../transcript/codec.ts'
import { isKnown, type Entry, type FactOf } from '../../transcript/fact.ts'
import {
  importedFrom,
  summaryKind,
  TurnList,
  type Imported,
  type RecordedBlock,
  type Skipped,
} from '../recording.ts'
import type { Fields, Lines } from './lines.ts'

export const isEntryLine = (value: Fields): boolean => 'v' in value && 'seq' in value && 'fact' in value

export function importTranscript(name: string, lines: Lines): Imported {
  const skipped: Skipped[] = [...lines.skipped]
  let entries: Entry[] = []
  for (const { line, value } of lines.records) {
    const decoded = decode(JSON.stringify(value))
    if (!decoded.ok) {
      skipped.push({ line, why: decoded.why })
    } else if (!isKnown(decoded.entry)) {
      skipped.push({ line, why: `unknown fact ${decoded.entry.unknown}` })
    } else if (decoded.entry.fact.type === 'rewind') {
      const { to } = decoded.entry.fact
      entries = entries.filter((entry) => entry.seq <= to)
    } else {
      entries.push(decoded.entry)
    }
  }
  const list = new TurnList()
  for (const entry of entries) takeEntry(list, entry)
  const start = factOf(entries, 'session-start')
  const instructions = factOf(entries, 'instructions-set')
  return importedFrom({ format: 'palimpsest', skipped }, list.turns(), {
    name: start?.session ?? name,
    client: 'palimpsest',
    system: instructions?.sections.map(({ text }) => text).join('\n\n') ?? null,
    tools: instructions?.tools.map((tool) => tool.name) ?? [],
  })
}

function factOf<T extends 'session-start' | 'instructions-set'>(entries: readonly Entry[], type: T) {
  return entries.map((entry) => entry.fact).find((fact): fact is FactOf<T> => fact.type === type)
}

function takeEntry(list: TurnList, { fact, at }: Entry): void {
  const said = (content: readonly RecordedBlock['block'][], kind?: string): void =>
    list.user(
      content.map((block) => ({ block, kind })),
      at,
    )
  switch (fact.type) {
    case 'user-message':
      return said(fact.content, fact.origin === 'injected' ? 'injected' : undefined)
    case 'attachment':
      return said(fact.content, `attachment:${fact.kind}`)
    case 'compaction-recorded':
      return said([{ type: 'text', text: fact.text }], summaryKind)
    case 'memory-recall':
      return said([{ type: 'text', text: fact.text }], 'attachment:memory-recall')
    case 'tool-result':
      return said([
        { type: 'tool_result', tool_use_id: fact.call, content: fact.content, is_error: fact.isError },
      ])
    case 'assistant-message': {
      const { content, messageId, usage, model, stop } = fact
      return list.assistant(
        content.map((block) => ({ block })),
        { at, messageId, usage, model, stop: stop ?? undefined },
      )
    }
  }
}
