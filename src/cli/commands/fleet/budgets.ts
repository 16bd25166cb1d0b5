// `pal fleet budget`: what may be spent, by whom, until when.
import type { BudgetScope } from '../../../postgres/index.ts'
import { complain, exits, refuse, type Exit } from '../../exit-codes.ts'
import type { Io } from '../../terminal/io.ts'
import { dollars, table } from '../../terminal/tables.ts'
import { failedWith, json, withFleet, type FleetFlags } from './open.ts'

export interface BudgetFlags extends FleetFlags {
  readonly cap?: number | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly remove?: boolean | undefined
}

const day = /^\d{4}-\d{2}-\d{2}$/u

export const fleetBudget = (
  io: Io,
  scope: BudgetScope | undefined,
  name: string | undefined,
  flags: BudgetFlags,
): Promise<Exit> =>
  withFleet(io, flags, async ({ budgets }) => {
    if (scope !== undefined && scope !== 'tenant' && (name ?? '') === '')
      return complain(
        io,
        refuse(
          exits.usage,
          `name the ${scope === 'tree' ? 'session' : scope}: pal fleet budget ${scope} NAME --cap DOLLARS`,
        ),
      )
    if (scope !== undefined && flags.remove === true) {
      const removed = await budgets.remove(scope, name ?? '')
      if (!removed.ok) return failedWith(io, removed.failure)
      if (!removed.isFound)
        return complain(
          io,
          refuse(exits.failed, 'there is no such budget today; pal fleet budget lists them'),
        )
    } else if (scope !== undefined) {
      if (flags.cap === undefined)
        return complain(io, refuse(exits.usage, 'how much: --cap DOLLARS, or --remove'))
      const period = periodOf(flags)
      const wrong = [period.from, period.to].find((text) => !day.test(text) || Number.isNaN(Date.parse(text)))
      if (wrong !== undefined)
        return complain(io, refuse(exits.usage, `${wrong} is not a day; expected 2026-11-01`))
      const set = await budgets.set({ scope, name: name ?? '', cap: flags.cap, ...period })
      if (!set.ok) return failedWith(io, set.failure)
    }
    const found = await budgets.rows()
    if (!found.ok) return failedWith(io, found.failure)
    if (flags.json === true) return json(io, found.budgets)
    if (found.budgets.length === 0)
      io.out('No budgets: nothing is refused. Set one: pal fleet budget team NAME --cap 50\n')
    else
      io.out(
        table(
          [
            { title: 'scope' },
            { title: 'name' },
            { title: 'from' },
            { title: 'until' },
            { title: 'cap', right: true },
            { title: 'spent', right: true },
            { title: 'reserved', right: true },
          ],
          found.budgets.map((row) => [
            row.scope,
            row.name,
            row.from,
            row.to,
            dollars(row.cap),
            dollars(row.spent),
            dollars(row.reserved),
          ]),
          io.columns,
        ),
      )
    return exits.done
  })

/** This month where nothing else is said. */
function periodOf({ from, to }: BudgetFlags): { readonly from: string; readonly to: string } {
  const now = new Date()
  const first = (months: number): string =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 1)).toISOString().slice(0, 10)
  return { from: from ?? first(0), to: to ?? first(1) }
}
