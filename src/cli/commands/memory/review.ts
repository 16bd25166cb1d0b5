// `pal memory review`, `accept` and `reject`: what waits for the user. Accepting is the only way trust is raised, so
// everything is shown whole, with what cannot be seen written out.
import { isAbsolute, resolve } from 'node:path'
import { createTwoFilesPatch } from 'diff'
import { readBytes, shaOf } from '../../../memory/files.ts'
import { readOwn } from '../../../memory/instructions/read.ts'
import {
  acceptHeld,
  acceptOutside,
  rejectHeld,
  rejectOutside,
  waiting,
  type OutsideChange,
} from '../../../memory/keeping/held.ts'
import { readVersion, type Keeper } from '../../../memory/keeping/keeper.ts'
import { readPins, writePins } from '../../../preset/memory/reminder.ts'
import { exits, refuse, type Exit, type Refusal } from '../../exit-codes.ts'
import type { Io } from '../../terminal/io.ts'
import { safeLine, safeText } from '../../terminal/safe-text.ts'
import { findMemory, isRefusal, show, withMemories, type MemoryFlags, type MemoryRoom } from './open.ts'
import { patchOf } from './versions.ts'

interface Item {
  readonly scope: string
  readonly file: string
  /** What accept and reject take. */
  readonly name: string
  readonly why: string
  readonly patch: string
}

export const review = (io: Io, flags: MemoryFlags): Promise<Exit> =>
  withMemories(io, flags, async (room) => {
    const items: Item[] = []
    for (const keeper of room.keepers) {
      const found = await itemsOf(keeper)
      if (isRefusal(found)) return found
      items.push(...found)
    }
    return show(room, { waiting: items }, () =>
      items.length === 0
        ? 'Nothing to review.\n'
        : items
            .map(
              (item) =>
                `${safeLine(`${item.scope} ${item.file}: ${item.why}`)}\n${safeText(item.patch, { reveal: true })}  pal memory accept ${safeLine(item.name)}   or   pal memory reject ${safeLine(item.name)}\n\n`,
            )
            .join(''),
    )
  })

async function itemsOf(keeper: Keeper): Promise<readonly Item[] | Refusal> {
  const found = await waiting(keeper)
  if (!found.ok) return refuse(exits.failed, found.failure.message)
  const { scope } = keeper.place
  const items: Item[] = []
  for (const held of found.held) {
    const patch = await patchOf(keeper, held)
    if (isRefusal(patch)) return patch
    const from = held.by.from.length === 0 ? '' : ` (after reading ${held.by.from.join(', ')})`
    items.push({
      scope,
      file: held.file,
      name: String(held.n),
      why: `held: ${held.why}${from}`,
      patch: patch.patch,
    })
  }
  for (const change of found.outside) {
    const { file, kind } = change
    items.push({
      scope,
      file,
      name: file,
      why: `${kind} from outside`,
      patch: await outsidePatch(keeper, change),
    })
  }
  return items
}

async function outsidePatch(keeper: Keeper, { file, known }: OutsideChange): Promise<string> {
  const before = known === null ? null : await readVersion(keeper, known)
  const now = await readBytes(keeper.fs, keeper.place.root, file)
  return createTwoFilesPatch(
    file,
    file,
    before?.ok === true ? before.text : '',
    now.ok ? now.bytes.toString('utf8') : '',
  )
}

type How = 'accept' | 'reject'

export const deciding =
  (how: How) =>
  (io: Io, names: readonly string[], flags: MemoryFlags & { readonly all?: boolean }): Promise<Exit> =>
    withMemories(io, flags, async (room) => {
      const wanted = [...names]
      if (flags.all === true) {
        for (const keeper of room.keepers) {
          const items = await itemsOf(keeper)
          if (isRefusal(items)) return items
          wanted.push(...items.map(({ name }) => name))
        }
      }
      if (wanted.length === 0 && flags.all !== true)
        return refuse(exits.usage, 'name one, or use --all; pal memory review lists them')
      const done: string[] = []
      for (const name of wanted) {
        const failure = isAbsolute(name)
          ? await acceptInstructions(room, name, how)
          : /^\d+$/.test(name)
            ? await decideHeld(room, Number(name), how)
            : await decideOutside(room, name, how)
        if (failure !== null)
          return refuse(
            exits.failed,
            `${name}: ${failure}${done.length === 0 ? '' : ` (done before it: ${done.join(', ')})`}`,
          )
        done.push(name)
      }
      return show(room, { [`${how}ed`]: done }, () => `${how}ed ${safeLine(done.join(', '))}\n`)
    })

async function decideHeld(room: MemoryRoom, n: number, how: How): Promise<string | null> {
  const having = room.keepers.filter(({ ledger }) => ledger.held().some((held) => held.n === n))
  if (having.length === 0) return 'there is nothing to review under this number'
  if (having.length > 1) return 'it is in two scopes; choose one with --scope'
  const done = how === 'accept' ? await acceptHeld(having[0]!, n) : await rejectHeld(having[0]!, n)
  return done.ok ? null : done.failure.message
}

async function decideOutside(room: MemoryRoom, name: string, how: How): Promise<string | null> {
  const found = await findMemory(room, name)
  if (isRefusal(found)) return found.message
  const { keeper, file } = found
  if (how === 'reject') {
    const done = await rejectOutside(keeper, file)
    return done.ok ? null : done.failure.message
  }
  const now = await readBytes(keeper.fs, keeper.place.root, file)
  const done = await acceptOutside(keeper, file, now.ok ? shaOf(now.bytes) : undefined)
  return done.ok ? null : done.failure.message
}

/** An instruction file, or one from outside that may be included from now on. */
async function acceptInstructions(room: MemoryRoom, name: string, how: How): Promise<string | null> {
  const { reminderOptions } = room.wiring
  const path = resolve(name)
  const known = await readPins(reminderOptions)
  if (how === 'reject') {
    const { [path]: _, ...pins } = known.pins
    return await writePins(reminderOptions, { pins, includes: known.includes.filter((one) => one !== path) })
  }
  const read = await readOwn(reminderOptions.fs, path)
  if (!read.ok) return read.failure.message
  return await writePins(reminderOptions, {
    pins: { ...known.pins, [read.path]: read.sha256 },
    includes: [...new Set([...known.includes, path])],
  })
}
