// What is a picture, by its first bytes, and how large one may be that is shown.

/** A picture of a transcript is capped by the API at 10 MB of base64. */
export const mostPictureBytes = 10 * 1024 * 1024

const starts: readonly (readonly [mime: string, first: readonly (number | null)[]])[] = [
  ['image/png', [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ['image/jpeg', [0xff, 0xd8, 0xff]],
  ['image/gif', [0x47, 0x49, 0x46, 0x38]],
  ['image/webp', [0x52, 0x49, 0x46, 0x46, null, null, null, null, 0x57, 0x45, 0x42, 0x50]],
]

/** What the bytes are, whatever they are called; null for everything that is no picture. */
export const pictureKind = (data: Uint8Array): string | null =>
  starts.find(([, first]) => first.every((byte, at) => byte === null || data[at] === byte))?.[0] ?? null

/** The bytes of base64; null where it is none or too much. */
export function pictureBytes(base64: string): Uint8Array<ArrayBuffer> | null {
  if (base64.length > (mostPictureBytes * 4) / 3 + 4) return null
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    return null
  }
}
