// Sessions, memories and mail of a team in one Postgres database. `pg` is loaded when a connection is opened.
export { connect, type Connection, type ConnectionOptions } from './connection.ts'
export { Budgets, budgetScopes, type BudgetRow, type BudgetScope, type Reserved } from './budgets.ts'
export {
  Queue,
  type Claimed,
  type FleetRow,
  type InputKind,
  type InputRow,
  type OldSession,
  type QuestionRow,
  type Sending,
  type Sent,
} from './queue.ts'
export { postgresMemories, type PostgresMemoriesOptions } from './memories.ts'
export { makeToken, removeTokens } from './tokens.ts'
export { migrate, type Migrated } from './migrate.ts'
export { postgresStore, type PostgresStore, type PostgresStoreOptions } from './store.ts'
