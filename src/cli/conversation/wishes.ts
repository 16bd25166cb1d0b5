// What the inspector's page asks of a session that is open here: done through this session, and said.
import type { Session } from '../../engine/session.ts'
import type { EffectKind } from '../../inspector/inspection.ts'
import { serveWishes } from '../../inspector/wishes.ts'
import { wishPorts } from '../commands/inspect/wish-ports.ts'
import type { Workplace } from '../workplace/workplace.ts'

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
