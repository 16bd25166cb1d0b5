// The steps from an empty database to the one this version works on, in their order. A step that was released is never changed:
// what is to be different is a new step.
import { budgetFunctions } from './budget-functions.ts'
import { fleetFunctions } from './fleet-functions.ts'
import { mailFunctions } from './mail-functions.ts'
import { memoryFunctions } from './memory-functions.ts'
import { storeFunctions } from './store-functions.ts'
import {
  begunColumns,
  cardTable,
  consolidationTable,
  dueTable,
  estimatedColumn,
  sumColumn,
  tables,
  walls,
} from './tables.ts'

export interface Migration {
  readonly number: number
  readonly name: string
  readonly sql: string
}

export const migrations: readonly Migration[] = [
  { number: 1, name: 'tables and the wall between tenants', sql: `${tables}\n${walls}` },
  { number: 2, name: 'when a wish is looked at has a table of its own', sql: dueTable },
  { number: 3, name: 'names that sessions are written to by', sql: cardTable },
  { number: 4, name: 'work that was begun goes first', sql: begunColumns },
  { number: 5, name: 'what was received has a sum', sql: sumColumn },
  { number: 6, name: 'memories of a place are put in order by one at a time', sql: consolidationTable },
  { number: 7, name: 'answers that were counted by size are marked', sql: estimatedColumn },
]

/** Functions hold no data: they are made anew at every migration, as this version has them. */
export const functions = [
  storeFunctions,
  fleetFunctions,
  mailFunctions,
  budgetFunctions,
  memoryFunctions,
].join('\n')

/** The newest step that this version knows. */
export const schemaNumber = migrations.at(-1)!.number
