// What is asked of a database before anything else: that it can be reached, was prepared by this version, has the tenant, and that
// this login may do what the command needs.
import { refused, type Result } from '../../../disk/failure.ts'
import type { Connection } from '../../../postgres/index.ts'
import { schemaNumber } from '../../../postgres/migrate.ts'

export interface Readiness {
  readonly number: number
  readonly writes: boolean
}

/** Null: whatever tenant. */
export async function readiness(
  connection: Connection,
  tenant: string | null,
  needs: 'reads' | 'writes',
): Promise<Result<Readiness>> {
  const found = await connection.query('select pal.readiness($1) as said', [tenant])
  if (!found.ok) return found
  const { number, tenant: hasTenant, writes } = found.rows[0]!['said'] as Readiness & { tenant: boolean }
  if (number > schemaNumber)
    return refused(
      'unknown-format',
      `the database is of a newer version (step ${number}, this one knows ${schemaNumber}); update pal`,
    )
  if (number < schemaNumber)
    return refused('unknown-format', 'the database is of an older version; run: pal fleet migrate')
  if (tenant !== null && !hasTenant)
    return refused(
      'not-found',
      `there is no tenant ${tenant} in this database; check PAL_TENANT, or run: pal fleet migrate --tenant ${tenant}`,
    )
  if (needs === 'writes' && !writes)
    return refused(
      'no-access',
      'this login may only read; use one that has the role of the application: grant pal_app to LOGIN',
    )
  return { ok: true, number, writes }
}
