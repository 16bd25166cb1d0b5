// Names bytes without Node or Web Crypto, which would make every call a promise. Two independent 32-bit hashes in one pass:
// enough to tell the units of one conversation apart. Nobody's secret hangs on it; a gateway, which serves strangers, has its own.

const seeds = [0x2c1b3c6d, 0x297a2d39] as const
const [c1, c2, c3, c4] = [0xcc9e2d51, 0x1b873593, 0x85ebca6b, 0xc2b2ae35]
const digits = 36
const encoder = new TextEncoder()
const width = 7

const rotated = (value: number, by: number): number => (value << by) | (value >>> (32 - by))

function finished(value: number, length: number): string {
  let mixed = value ^ length
  mixed = Math.imul(mixed ^ (mixed >>> 16), c3)
  mixed = Math.imul(mixed ^ (mixed >>> 13), c4)
  return ((mixed ^ (mixed >>> 16)) >>> 0).toString(digits).padStart(width, '0')
}

/** 64 bits, as 14 characters. */
export function plainDigest(value: Uint8Array | string): string {
  const bytes = typeof value === 'string' ? encoder.encode(value) : value
  let [a, b]: [number, number] = [...seeds]
  const { length } = bytes
  const whole = length - (length % 4)
  for (let at = 0; at < whole; at += 4) {
    const word = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
    a = Math.imul(rotated(a ^ Math.imul(rotated(Math.imul(word, c1), 15), c2), 13), 5) + 0xe6546b64
    b = Math.imul(rotated(b ^ Math.imul(rotated(Math.imul(word, c4), 16), c3), 11), 9) + 0x561ccd1b
  }
  let rest = 0
  for (let at = whole; at < length; at++) rest = (rest << 8) | bytes[at]!
  a ^= Math.imul(rotated(Math.imul(rest, c1), 15), c2)
  b ^= Math.imul(rotated(Math.imul(rest, c4), 16), c3)
  return finished(a, length) + finished(b, length)
}
