// A slice of the fuzz against a real bash: `npm run bench -- permission --fuzz=500000` is the long one.
import { describe, expect, it } from 'vitest'
import { sweep } from './fuzz/generate.ts'
import { fuzz, type Finding } from './fuzz/run.ts'
import { hasWall } from './wall.ts'

const shown = ({ kind, command, what }: Finding): string => `${kind}: ${command} (${what})`
const seed = 20
/** Programs in which an option or a cluster was once taken for something else than the program takes it for. */
const swept = /^(?:git (?:diff|log|show|grep) |xxd |tree |node |python3 |make |npm )/

describe.skipIf(!hasWall)('what is let run of mutated commands (needs bubblewrap)', () => {
  it('[PM42] options before words that act, and clusters of letters: same words in bash, no change, nothing shown', async () => {
    const lines = [...sweep()].filter((line) => swept.test(line))
    const { inputs, allowed, findings } = await fuzz({ seed, inputs: lines.length, lines, maxFindings: 5 })
    console.log(`${inputs} swept lines, ${allowed} of them let run and run`)
    expect(allowed).toBeGreaterThan(100)
    expect(findings.map(shown)).toEqual([])
  })

  it('[PM42] commands at random: same words in bash, no change, nothing shown', async () => {
    const { inputs, allowed, findings } = await fuzz({ seed, inputs: 4000, lines: [], maxFindings: 5 })
    console.log(`seed ${seed}: ${inputs} inputs, ${allowed} of them let run and run`)
    expect(allowed).toBeGreaterThan(200)
    expect(findings.map(shown)).toEqual([])
  })
})
