// `pal memory search`: memories by rank, and with --transcripts what was said in earlier sessions. The user sees what is
// held or fenced too, with its standing.
import { MemorySearch, type MemoryHit, type TurnHit } from '../../../memory/recall/search.ts'
import { Shelf } from '../../../memory/recall/shelf.ts'
import { projectStore } from '../../../preset.ts'
import { defaults } from '../../../settings/defaults.ts'
import { exits, refuse, type Exit, type Refusal } from '../../exit-codes.ts'
import { openWorkplace } from '../../workplace/workplace.ts'
import type { Io } from '../../terminal/io.ts'
import { safeLine, safeText } from '../../terminal/safe-text.ts'
import { moment, table } from '../../terminal/tables.ts'
import { show, withMemories, type MemoryFlags, type MemoryRoom } from './open.ts'

export interface SearchFlags extends MemoryFlags {
  readonly transcripts?: boolean | undefined
  /** The turns around a hit of an earlier search. */
  readonly expand?: string | undefined
}

export const searchMemory = (io: Io, words: readonly string[], flags: SearchFlags): Promise<Exit> =>
  withMemories(io, flags, (room) => search(room, words.join(' '), flags))

async function search(room: MemoryRoom, query: string, flags: SearchFlags): Promise<Exit | Refusal> {
  const place = await openWorkplace(room.io, flags)
  if (!place.ok) return place
  const { hits: most, around } = defaults.search
  const { signal } = new AbortController()
  const [{ fs }] = room.keepers as [(typeof room.keepers)[0]]
  const places = room.keepers.map((keeper) => keeper.place)
  const searching = new MemorySearch(new Shelf(fs, places), projectStore(place))
  if (flags.expand !== undefined) {
    const found = await searching.around(flags.expand, around, signal)
    if (!found.ok) return refuse(exits.usage, found.failure.message)
    return show(room, { turns: found.hits }, () => found.hits.map(wholeTurn).join('\n'))
  }
  if (query.trim() === '') return refuse(exits.usage, 'say what to look for: pal memory search WORDS')
  const memories = await searching.memories(query, most, signal, () => true)
  if (!memories.ok) return refuse(exits.failed, memories.failure.message)
  const turns = flags.transcripts === true ? await searching.turns(query, most, signal) : null
  if (turns?.ok === false) return refuse(exits.failed, turns.failure.message)
  const said = turns === null ? {} : { turns: turns.hits }
  return show(room, { memories: memories.hits, ...said }, () => asText(memories.hits, turns?.hits ?? null))
}

function asText(memories: readonly MemoryHit[], turns: readonly TurnHit[] | null): string {
  const found =
    memories.length === 0
      ? `no memory fits${turns === null ? '; --transcripts looks through earlier sessions' : ''}.\n`
      : table(
          [{ title: 'file' }, { title: 'standing' }, { title: 'when' }, { title: 'about' }],
          memories.map(({ name, standing, modifiedMs, description }) => [
            name,
            standing,
            moment(modifiedMs),
            description,
          ]),
        )
  if (turns === null) return found
  if (turns.length === 0) return `${found}nothing that was said fits.\n`
  const rows = turns.map(({ ref, at, speaker, text }) => [ref, moment(at), speaker, safeLine(text)])
  const told = table([{ title: 'place' }, { title: 'when' }, { title: 'who' }, { title: 'said' }], rows)
  return `${found}\n${told}pal memory search --expand PLACE shows the turns around one.\n`
}

const wholeTurn = ({ at, speaker, text, isHit }: TurnHit): string =>
  `${isHit ? '>' : ' '} ${speaker}, ${moment(at)}\n${safeText(text)}\n`
