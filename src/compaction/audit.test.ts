import { describe, expect, it } from 'vitest'
import { Fold } from '../projection/fold.ts'
import type { Part } from '../projection/view.ts'
import { answered, call, entriesOf, result, said } from '../testing/builders.ts'
import type { Fact } from '../transcript/fact.ts'
import { seq } from '../transcript/ids.ts'
import { auditOf, inventoryOf, ledgerOf, missingFrom, placesIn } from './audit.ts'
import { errorOf } from './phrases.ts'
import { readSpan } from './span-reading.ts'

function partsOf(...facts: readonly Fact[]): readonly Part[] {
  const fold = new Fold()
  for (const entry of entriesOf(...facts)) fold.push(entry)
  return [...fold.parts()]
}

const parts = partsOf(
  said('Fix the login. Never touch the schema. Use port 8443.'),
  answered(
    [
      { type: 'text', text: 'Reading `parseToken` in src/auth/login.ts.' },
      call('a', 'Read', { file_path: 'src/auth/login.ts' }),
    ],
    { id: 'x' },
  ),
  result('a', 'ENOENT: no such file, cannot open', true),
  answered([call('t', 'TaskList', { tasks: [{ title: 'write the test', state: 'pending' }] })], { id: 't' }),
  result('t', 'ok'),
)
const none = { keep: [], whole: 1, shortened: 0, pointed: 0 }

describe('the audit', () => {
  const inventory = inventoryOf(readSpan(parts))

  it('[O6] knows what a span held', () => {
    expect(inventory).toEqual({
      pending: ['[ ] write the test'],
      rules: ['Never touch the schema.'],
      errors: ['ENOENT: no such file, cannot open'],
      paths: ['src/auth/login.ts'],
      names: ['parseToken'],
      numbers: ['8443'],
    })
  })

  it('[O6] finds a planted loss, and the ledger brings it back word for word', () => {
    const text = 'Never touch the schema. Port 8443. parseToken of src/auth/login.ts. [ ] write the test'
    const missing = missingFrom(inventory, text)
    expect(missing).toMatchObject({
      errors: ['ENOENT: no such file, cannot open'],
      pending: [],
      rules: [],
      paths: [],
    })
    expect(ledgerOf(missing, 200, 1).errors).toEqual(['ENOENT: no such file, cannot open'])
    const audit = auditOf(
      inventory,
      missing,
      missingFrom(inventory, `${text} ENOENT: no such file, cannot open`),
      none,
    )
    expect(audit.retention).toBe(1)
    expect(audit.retentionBefore).toBeCloseTo(6 / 7, 2)
  })

  it('[O6] a number by itself is no line of the ledger, and counts as lost', () => {
    const missing = missingFrom(inventory, '')
    expect(missing.numbers).toEqual(['8443'])
    const { open, errors, named } = ledgerOf(missing, 2000, 1)
    expect(named).toContain('parseToken')
    expect([...open, ...errors, ...named].join('\n')).not.toContain('8443')
  })

  it('[O6] without room for a ledger the loss is counted and named, the weightiest first', () => {
    const missing = missingFrom(inventory, '')
    const ledger = ledgerOf(missing, 0, 1)
    expect([...ledger.open, ...ledger.errors, ...ledger.named]).toEqual([])
    const audit = auditOf(inventory, missing, missing, none)
    expect(audit.retention).toBeCloseTo(1 / 7, 2)
    expect(audit.lost[0]).toBe('pending: [ ] write the test')
    expect(audit.lost).toContain('paths: src/auth/login.ts')
  })

  it('[O42] each loss names the entry that said it first', () => {
    const missing = missingFrom(inventory, '')
    const { lost, lostAt } = auditOf(inventory, missing, missing, none, placesIn(readSpan(parts)))
    const placed = lost.map((line, at) => [line, lostAt?.[at]?.seq])
    expect(placed).toEqual([
      ['pending: [ ] write the test', 4],
      ['rules: Never touch the schema.', 1],
      ['errors: ENOENT: no such file, cannot open', 3],
      ['paths: src/auth/login.ts', 2],
      ['names: parseToken', 2],
      ['numbers: 8443', 1],
    ])
  })

  it('[O42] white space between words does not hide where something was said', () => {
    const said = { at: seq(7), text: 'we use\n\tparseToken  for it' }
    const placeOf = placesIn({ inputs: [], answers: [], calls: [], injected: [], earlier: [said] })
    const found = ['[ ] use parseToken for', 'parseToken', 'parseToken it'].map((item) => placeOf(item)?.seq)
    expect(found).toEqual([7, 7, undefined])
  })

  it('[O6] an error is told by its first line that speaks of one, or the first that says anything', () => {
    const texts = ['ran\n  TypeError: no\nfailed', '\n \n  exit 3 \nbye', 'Failed', ' \n\n', '']
    expect(texts.map(errorOf)).toEqual(['TypeError: no', 'exit 3', 'Failed', '', ''])
  })

  it('[O6] open things go into the ledger before names and numbers', () => {
    const ledger = ledgerOf(missingFrom(inventory, ''), 55, 1)
    expect(ledger.open).toEqual(['[ ] write the test'])
    expect(ledger.named).toEqual(['Never touch the schema. — said by the user'])
  })

  it('[O6] words of the user that are not whole count as loss', () => {
    const whole = auditOf(inventory, inventory, inventory, { ...none, whole: 2 })
    const cut = auditOf(inventory, inventory, inventory, { ...none, shortened: 1 })
    expect(cut.retention).toBeLessThan(whole.retention)
    expect(cut.userMessages).toEqual({ whole: 1, shortened: 1, pointed: 0 })
  })
})
