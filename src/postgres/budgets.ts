// Budgets: what may be spent, by whom, in a period. What a request can cost at most is reserved before it is sent; what it did
// cost is counted with its answer by the store.
import { refused, type Result } from '../disk/failure.ts'
import { callsOf, type Calls, type Connection } from './connection.ts'

/** What a cap can be set for. */
export const budgetScopes = ['tenant', 'team', 'project', 'tree'] as const
export type BudgetScope = (typeof budgetScopes)[number]

export interface BudgetRow {
  readonly scope: BudgetScope
  readonly name: string
  /** The first day, and the first day after it. */
  readonly from: string
  readonly to: string
  readonly cap: number
  readonly spent: number
  readonly reserved: number
}

export type Reserved =
  | { readonly ok: true }
  | { readonly ok: false; readonly why: 'fenced' }
  | { readonly ok: false; readonly why: 'unpriced'; readonly scope: BudgetScope; readonly name: string }
  | {
      readonly ok: false
      readonly why: 'cap'
      readonly scope: BudgetScope
      readonly name: string
      readonly cap: number
      readonly spent: number
      readonly reserved: number
      readonly until: string
    }

/** What a tenant, team, project or tree of sessions may spend: reserved before a request, booked with its answer. */
export class Budgets {
  readonly #calls: Calls
  readonly tenant: string

  constructor(connection: Connection, tenant: string) {
    this.#calls = callsOf(connection, tenant)
    this.tenant = tenant
  }

  /** In every budget that covers the session, or in none. `dollars` is null where no price is known. */
  async reserve(
    lease: { readonly session: string; readonly token: string },
    request: string,
    dollars: number | null,
  ): Promise<Result<{ readonly reserved: Reserved }>> {
    const found = await this.#calls.value('reserve', [lease.session, lease.token, request, dollars])
    return found.ok ? { ok: true, reserved: found.value as Reserved } : found
  }

  free(session: string, request: string): Promise<Result<object>> {
    return this.#calls.done('free_reservation', [session, request])
  }

  /** For a period of whole days; a budget that is there gets the new cap. */
  async set(budget: Pick<BudgetRow, 'scope' | 'name' | 'from' | 'to' | 'cap'>): Promise<Result<object>> {
    const { scope, name, from, to, cap } = budget
    if (!Number.isFinite(cap) || cap < 0) return refused('invalid', 'a cap is a number of dollars, 0 or more')
    if (!(from < to)) return refused('invalid', `the period from ${from} to ${to} holds no day`)
    return this.#calls.done('set_budget', [scope, scope === 'tenant' ? '' : name, from, to, cap])
  }

  remove(scope: BudgetScope, name: string): Promise<Result<{ readonly isFound: boolean }>> {
    return this.#calls.found('remove_budget', [scope, scope === 'tenant' ? '' : name])
  }

  async rows(): Promise<Result<{ readonly budgets: readonly BudgetRow[] }>> {
    const found = await this.#calls.values('budget_rows', [])
    return found.ok ? { ok: true, budgets: found.values as readonly BudgetRow[] } : found
  }
}
