// One door for every format: looks at what a file holds, not at its name, and hands it to the importer that knows it.
import { readFile } from 'node:fs/promises'
import type { Imported } from '../recording.ts'
import { importCorpus, isCorpusHeader, isCorpusTurn } from './corpus.ts'
import { readLines, unpack } from './lines.ts'

export type ReadBytes = (path: string) => Promise<Uint8Array>

/** Reads a recording. Never throws: what cannot be read is a failure that names the file and the line. */
export async function importFile(
  path: string,
  read: ReadBytes = (path) => readFile(path),
): Promise<Imported> {
  let bytes: Uint8Array
  try {
    bytes = await read(path)
  } catch (error) {
    return {
      ok: false,
      failure: { code: 'io-error', message: `${path}: cannot be read (${(error as Error).message})` },
    }
  }
  return importBytes(path, bytes)
}

export function importBytes(name: string, packed: Uint8Array): Imported {
  const unpacked = unpack(name, packed)
  if (!unpacked.ok) return unpacked
  const lines = readLines(unpacked.bytes, (value) => isCorpusHeader(value) || isCorpusTurn(value))
  return importCorpus(name, lines)
}
