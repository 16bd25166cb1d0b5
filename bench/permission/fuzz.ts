// The long fuzz: says how far it is, and ends with a table and every finding.
import { fuzz, type Progress } from '../../test/permission/fuzz/run.ts'
import { hasWall } from '../../test/permission/wall.ts'

const SHOW_MS = 2000

/** Runs it and prints; gives the exit code. */
export async function fuzzBench(inputs: number, seed: number, isJson: boolean): Promise<number> {
  if (!hasWall) {
    process.stderr.write(
      'the fuzz runs commands behind bubblewrap, which does not work here: install bwrap\n',
    )
    return 2
  }
  process.stderr.write(`seed ${seed}, ${inputs} inputs (again with --seed=${seed})\n`)
  const start = performance.now()
  let shown = start
  const onProgress = ({ inputs: made, allowed, ran, findings }: Progress): void => {
    const now = performance.now()
    if (now - shown < SHOW_MS) return
    shown = now
    const left = Math.round((((now - start) / made) * (inputs - made)) / 1000)
    process.stderr.write(
      `${made} of ${inputs} inputs, ${allowed} allowed, ${ran} run, ${findings.length} findings, about ${left} s left\n`,
    )
  }
  const done = await fuzz({ seed, inputs, onProgress })
  const seconds = Math.round((performance.now() - start) / 1000)
  const of = (kind: string): number => done.findings.filter((one) => one.kind === kind).length
  const table = {
    seed,
    inputs: done.inputs,
    'allowed, distinct': done.allowed,
    'really run': done.ran,
    'ended because they stalled': done.stalled,
    'words differ from what bash ran': of('words'),
    'canaries changed': of('change'),
    'secrets shown': of('shown'),
    'judge threw': of('thrown'),
    seconds,
  }
  if (isJson) process.stdout.write(`${JSON.stringify({ ...table, findings: done.findings })}\n`)
  else {
    console.table(table)
    for (const { kind, command, what } of done.findings)
      process.stdout.write(`${kind}: ${JSON.stringify(command)}\n  ${what}\n`)
  }
  return done.findings.length === 0 ? 0 : 1
}
