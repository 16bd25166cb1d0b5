// A day's work of a real client behind the gateway: 200 shell calls in ten prompts, what they print taken from a recorded
// session, and two pauses in which the cache goes cold (the clocks of simulator and gateway are moved, nobody sleeps).
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { corpusFiles, corpusFolder } from '../test/shared-data.ts'
import { isRecord } from '../src/transcript/content.ts'
import type { Client } from './agents.ts'
import { openBench, ways, type Bill, type Way } from './behind-gateway.ts'
import type { createVerdicts } from './on-demand.ts'

const prompts = 10
const callsOfPrompt = 20
const usualSession = 'cc-cli-c35cf82b04'
/** Behind which prompt somebody goes away, and for how long. */
const pauses: ReadonlyMap<number, number> = new Map([
  [4, 2 * 60 * 60_000],
  [8, 30 * 60_000],
])

/** What the tools of a recorded session printed, in their order. */
function recordedOutputs(session: string): readonly string[] | null {
  const file = corpusFiles.find((name) => name.startsWith(session))
  if (file === undefined) return null
  const lines = gunzipSync(readFileSync(join(corpusFolder, file)))
    .toString()
    .trimEnd()
    .split('\n')
  return lines.slice(1).flatMap((line) => {
    const turn: unknown = JSON.parse(line)
    const content = isRecord(turn) && Array.isArray(turn['content']) ? turn['content'] : []
    return content.flatMap((block: unknown) =>
      isRecord(block) && block['type'] === 'tool_result' ? [textOf(block['content'])] : [],
    )
  })
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  const parts: readonly unknown[] = Array.isArray(content) ? content : []
  return parts
    .map((part) => (isRecord(part) && typeof part['text'] === 'string' ? part['text'] : ''))
    .join('\n')
}

function promptOf(part: number): string {
  const from = part * callsOfPrompt
  return [
    `Part ${part + 1} of the work: look at these outputs one after the other.`,
    `<task name="part-${part + 1}">`,
    ...Array.from({ length: callsOfPrompt }, (_, step) => `${step + 1}. run cat out/${from + step}.txt`),
    `${callsOfPrompt + 1}. say Part ${part + 1} is done.`,
    '</task>',
  ].join('\n')
}

async function runLong(
  client: Client,
  folder: string,
  way: Way,
  outputs: readonly string[],
): Promise<Bill & { readonly done: number }> {
  let paused = 0
  const bench = await openBench(client, folder, way, { clock: { now: () => Date.now() + paused } })
  mkdirSync(join(bench.project, 'out'))
  for (const [at, text] of outputs.entries()) writeFileSync(join(bench.project, 'out', `${at}.txt`), text)
  let done = 0
  for (let part = 0; part < prompts; part++) {
    const out = await bench.run(promptOf(part), part > 0)
    if (out.includes(`Part ${part + 1} is done.`)) done++
    else
      process.stderr.write(`     ${client.label} ${way}: part ${part + 1} is not done: ${out.slice(-300)}\n`)
    paused += pauses.get(part + 1) ?? 0
  }
  const bill = bench.bill()
  for (const { error } of bench.simulator.log.requests)
    if (error !== null)
      process.stderr.write(`     ${client.label} ${way}: refused: ${JSON.stringify(error).slice(0, 300)}\n`)
  await bench.stop()
  return { ...bill, done }
}

/** What compacting is to save at least of a long task. */
const compactGoal = 0.7

/** Prints the bills of a client, and holds them to the goals. */
export async function longTask(
  client: Client,
  folder: string,
  verdicts: ReturnType<typeof createVerdicts>,
  session = usualSession,
  only?: string,
): Promise<void> {
  const outputs = recordedOutputs(session)?.slice(0, prompts * callsOfPrompt)
  if (outputs === undefined || outputs.length < prompts * callsOfPrompt)
    return verdicts.skip(client.label, `no recorded session ${session} with enough calls at ${corpusFolder}`)
  const bills = new Map<Way, Bill & { readonly done: number }>()
  for (const way of ways) {
    if (only !== undefined && !only.split(',').includes(way)) continue
    const bill = await runLong(client, folder, way, outputs)
    bills.set(way, bill)
    const { requests, refused, read, write, cost } = bill
    const direct = bills.get('direct')?.cost ?? 0
    const share = direct > 0 ? `${((100 * cost) / direct).toFixed(1)}%` : '–'
    process.stdout.write(
      `| ${client.label} | ${way} | ${requests} | ${refused} | ${read} | ${write} | $${cost.toFixed(2)} | ${share} |\n`,
    )
    verdicts.check(`${client.label}, ${way}: all parts are done`, bill.done === prompts, `${bill.done} are`)
  }
  const cost = (way: Way): number | undefined => bills.get(way)?.cost
  const [direct, trim, compact] = [cost('direct'), cost('trim'), cost('compact')]
  if (direct === undefined) return
  if (trim !== undefined)
    verdicts.check(`${client.label}: trim is not more expensive than direct`, trim <= direct * evenly)
  if (compact !== undefined)
    verdicts.check(
      `${client.label}: compact is at least 30% cheaper than direct`,
      compact <= direct * compactGoal,
      `${((100 * compact) / direct).toFixed(1)}% of direct`,
    )
  verdicts.check(
    `${client.label}: no more refusals at any level than direct`,
    [...bills.values()].every(({ refused }) => refused <= bills.get('direct')!.refused),
  )
}
/** What the length of a temporary path in a prompt makes of a bill. */
const evenly = 1.005
