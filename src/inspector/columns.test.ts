// The bytes of the index, there and back.
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { decodeChunk, encodeChunk } from './columns.ts'

const rows = fc.array(
  fc.record({
    bytes: fc.nat(0xff_ff_ff_ff),
    delta: fc.integer({ min: -0x80_00_00_00, max: 0x7f_ff_ff_ff }),
    tokens: fc.nat(0xff_ff_ff_ff),
    label: fc.nat(0xff_ff),
    kind: fc.nat(0xff),
    flags: fc.nat(0xff),
  }),
)

it('[IN1] a chunk of the index comes back from its bytes as it was, and other bytes are no chunk', () => {
  fc.assert(
    fc.property(rows, fc.array(fc.string({ unit: 'binary' })), fc.nat(), (all, labels, from) => {
      const chunk = {
        from,
        to: from + all.length - 1,
        at: 1_763_200_000_000,
        head: from + all.length + 7,
        before: from === 0 ? null : from,
        kinds: ['user-message', 'tool-result'],
        labels,
        bytes: Uint32Array.from(all, (row) => row.bytes),
        delta: Int32Array.from(all, (row) => row.delta),
        tokens: Uint32Array.from(all, (row) => row.tokens),
        label: Uint16Array.from(all, (row) => row.label),
        kind: Uint8Array.from(all, (row) => row.kind),
        flags: Uint8Array.from(all, (row) => row.flags),
      }
      const bytes = encodeChunk(chunk)
      expect(decodeChunk(bytes)).toEqual(chunk)
      // At any place in a larger buffer too.
      expect(decodeChunk(Uint8Array.from([9, ...bytes]).subarray(1))).toEqual(chunk)
      expect(decodeChunk(bytes.subarray(0, 7))).toBeNull()
      if (all.length > 0) expect(decodeChunk(bytes.subarray(0, bytes.length - 1))).toBeNull()
    }),
    { numRuns: 200 },
  )
  expect(decodeChunk(new TextEncoder().encode('<!doctype html><p>not a chunk'))).toBeNull()
})
