// What the inspector's page asks of a session that is open here: done through this session, and said.
import { join } from 'node:path'
import { machineFileSystem } from '../../disk/fs.ts'
import type { Session } from '../../engine/session.ts'
import type { EffectKind } from '../../inspector/inspection.ts'
import { serveWishes, type WishPorts } from '../../inspector/wishes.ts'
import { uniqueText, type Workplace } from '../workplace/workplace.ts'

// Where wishes to a session that is open in another process lie.

export const wishPorts = (home: string): WishPorts => ({
  fs: machineFileSystem,
  folder: join(home, 'wishes'),
  unique: uniqueText,
})

const deeds: Readonly<Record<EffectKind, string>> = { undo: 'undone', release: 'released', pin: 'pinned' }

/** Until the function it gives is called. */
export const hearWishes = ({ home, io }: Workplace, session: () => Session | null): (() => void) =>
  serveWishes(wishPorts(home), session, (kind, target, effect) =>
    io.err(
      effect.ok
        ? `pal: #${target} was ${deeds[kind]} from the inspector\n`
        : `pal: the inspector asked to ${kind} #${target}, which was refused: ${effect.message}\n`,
    ),
  )
