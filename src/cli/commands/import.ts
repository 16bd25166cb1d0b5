// `pal import`: a session of another program becomes one of ours, to be gone on with. What was said stays as it was;
// what it cost elsewhere is not counted here, our own instructions hold, and secrets in results are taken out.
import { machineFileSystem } from '../../disk/fs.ts'
import { redact } from '../../disk/redact.ts'
import { EngineError } from '../../engine/session.ts'
import { importFile, toEntries } from '../../lab/index.ts'
import { defaults } from '../../settings/defaults.ts'
import type { AssistantBlock, UserBlock } from '../../transcript/content.ts'
import { isKnown, type Fact } from '../../transcript/fact.ts'
import { systemClock, systemIds } from '../../transcript/ids.ts'
import { print, complain, exitFor, exits, fail, type Exit } from '../exit-codes.ts'
import { commandPreset } from '../extensions/load.ts'
import type { Io } from '../terminal/io.ts'
import { safeLine } from '../terminal/safe-text.ts'
import { counted } from '../terminal/tables.ts'
import { openWorkplace, showProblems, type ProjectFlags } from '../workplace/workplace.ts'

export async function importSession(io: Io, path: string, flags: ProjectFlags): Promise<Exit> {
  const place = await openWorkplace(io, { cwd: flags.cwd })
  if (!place.ok) return complain(io, place)
  showProblems(place)
  const stat = await machineFileSystem.stat(path).catch(() => null)
  if (stat !== null && stat.bytes > defaults.cli.recordingBytes)
    return fail(io, exits.usage, `${path} is longer than ${defaults.cli.recordingBytes} bytes`)
  const read = await importFile(path)
  if (!read.ok) return fail(io, exits.usage, read.failure.message)
  const { recording, report } = read
  const { entries, repairs } = toEntries(
    { ...recording, system: null },
    { ids: systemIds(systemClock), clock: systemClock, keepsSummaries: true },
  )
  const said = entries.flatMap((entry) => (isKnown(entry) ? adoptable(entry.fact) : []))
  const preset = await commandPreset(place)
  try {
    const session = await preset.engine.adopt(said, `${recording.client}: ${recording.name}`)
    const { tokens } = session.view()
    await session.close()
    const left = report.skipped.length
    return print(
      io,
      flags.json,
      {
        session: session.id,
        from: recording.client,
        messages: recording.turns.length,
        tokens,
        skipped: left,
        repairs,
      },
      () =>
        `${counted(recording.turns.length, 'message')} of ${safeLine(recording.client)} imported as session ${session.id} now, about ${tokens} tokens.\n` +
        (left === 0
          ? ''
          : `${counted(left, 'line')} could not be parsed and ${left === 1 ? 'was' : 'were'} skipped.\n`) +
        (repairs.length === 0 ? '' : `${repairs.length} messages were repaired so that they can be sent.\n`) +
        `pal --resume ${session.id} continues it\n`,
    )
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    return fail(io, exitFor(error.code), error.message)
  } finally {
    await preset.close()
  }
}

/** What was counted and paid elsewhere says nothing about requests of ours. */
function adoptable(fact: Fact): readonly Fact[] {
  switch (fact.type) {
    case 'session-start':
    case 'instructions-set':
    case 'request-sent':
    case 'cache-break':
      return []
    case 'assistant-message': {
      const { usage: _, ...answer } = fact
      return [{ ...answer, content: answer.content.map(sendable) }]
    }
    case 'compaction-recorded':
      return [{ ...fact, text: redact(fact.text).text }]
    case 'tool-result':
      return [{ ...fact, content: fact.content.map(withoutSecrets) }]
    default:
      return [fact]
  }
}

/** What no API knows would be refused with every request: it is kept as text. */
const sendable = (block: AssistantBlock): AssistantBlock =>
  apiBlocks.test(block.type) ? block : { type: 'text', text: JSON.stringify(block) }
const apiBlocks =
  /^(?:text|thinking|redacted_thinking|tool_use|item|server_tool_use|mcp_tool_use|container_upload|\w+_tool_result)$/

const withoutSecrets = (block: UserBlock): UserBlock =>
  block.type === 'text' ? { ...block, text: redact(block.text).text } : block
