// Recall beside requests, over HTTP: what comes in time, what comes later, and what does not come.
import { describe, expect, it } from 'vitest'
import { machineFileSystem, type FileSystem } from '../../src/disk/fs.ts'
import { recallBy } from '../../src/forks/select-memory.ts'
import { createEngine, inMemoryStore, type Session } from '../../src/index.ts'
import { MemoryRecall } from '../../src/memory/recall/recall.ts'
import { folderSource } from '../../src/memory/recall/memory-source.ts'
import { call, jobOf, ruleModel, scripted, type LoggedRequest } from '../../src/simulator/index.ts'
import type { WireRequest } from '../../src/model/wire.ts'
import { seq } from '../../src/transcript/ids.ts'
import {
  factsOf,
  folder,
  later,
  modelId,
  ofType,
  refusals,
  simulated,
  tool,
  turn,
  type SimulatedApi,
} from '../e2e/simulated.ts'
import { until } from '../until.ts'
import { memoryText, placeIn, plant, type Planted } from './memory-folder.ts'

const packages: Planted = {
  file: 'packages.md',
  text: memoryText(
    'install packages with pnpm, never with npm',
    'Use pnpm to install dependencies and packages.',
  ),
}
const release: Planted = {
  file: 'release.md',
  text: memoryText(
    'the mobile release branch is cut on Thursdays',
    'Merges stop on Thursday before the mobile release.',
  ),
}
const question = 'please install the packages and dependencies with npm'
const selector = 'claude-haiku-4-5'

interface Stage {
  readonly scene: SimulatedApi
  readonly session: Session
  readonly store: ReturnType<typeof inMemoryStore>
  /** Waits until every choice that was begun has come to its end. */
  readonly chosen: () => Promise<void>
}

/** A session whose main requests follow a script and whose selections are answered by the rule-based model. */
async function staged(
  steps: Parameters<typeof scripted>[0],
  planted: readonly Planted[],
  options: { readonly selector?: string; readonly isPatient?: boolean } = {},
): Promise<Stage> {
  const [main, rules] = [scripted(steps), ruleModel()]
  const scene = await simulated([], {
    answerer: {
      answer: (context) => (isSelection(context.request) ? rules.answer(context) : main.answer(context)),
    },
  })
  const place = placeIn(await folder())
  await plant(place, planted)
  const memories = new MemoryRecall({
    sources: [folderSource(machineFileSystem, place)],
    now: () => Date.now(),
    pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  })
  const { selector: modelOfChoice, isPatient } = options
  const recall = recallBy(memories, { modelId: modelOfChoice, isPatient })
  const choices: Promise<unknown>[] = []
  const chosen = async (): Promise<void> => {
    await Promise.all(choices)
    // The session takes an outcome when its promise is settled, which is before anything the machine reports.
    await new Promise((resolve) => setImmediate(resolve))
  }
  const store = inMemoryStore()
  const session = await createEngine({
    store,
    modelId,
    model: scene.model,
    system: 'You help.',
    tools: [
      tool('look', async () => {
        await chosen()
        return 'seen'
      }),
    ],
    recall: {
      ...recall,
      // However busy the machine is, the quick look is waited for.
      patienceMs: 120_000,
      choosesDuringTools: isPatient,
      choose: (ask, signal) => {
        const choice = recall.choose(ask, signal)
        choices.push(choice)
        return choice
      },
    },
  }).open()
  later(() => session.close())
  return { scene, session, store, chosen }
}

const isSelection = (request: WireRequest): boolean => jobOf(request) === 'select'
const bodyOf = (request: LoggedRequest | undefined): string => JSON.stringify(request?.body ?? null)
const mainOf = ({ simulator }: SimulatedApi): readonly LoggedRequest[] =>
  simulator.log.requests.filter(({ model }) => model !== selector)
const selectionsOf = ({ simulator }: SimulatedApi): readonly LoggedRequest[] =>
  simulator.log.requests.filter(({ model }) => model === selector)
const recallsOf = async ({ store, session }: Stage): Promise<readonly (readonly string[])[]> =>
  ofType(await factsOf(store, session.id), 'memory-recall').map(({ files }) => files)

describe('recall beside a request', () => {
  it('[RC27] without a selector the ranker adds to the same request, behind the message', async () => {
    const stage = await staged(['done'], [packages, release])
    await turn(stage.session.send(question))
    const [first] = mainOf(stage.scene)
    expect(bodyOf(first)).toContain('Use pnpm to install')
    expect(bodyOf(first).indexOf(question)).toBeLessThan(bodyOf(first).indexOf('Use pnpm to install'))
    expect(bodyOf(first)).not.toContain('Merges stop')
    expect(stage.scene.simulator.log.requests).toHaveLength(1)
    expect(refusals(stage.scene)).toEqual([])
  })

  /** One request over 250 memories on a disk of which some calls do not answer. */
  const first = async (disk: Partial<FileSystem>, patienceMs: number) => {
    const others = Array.from({ length: 250 }, (_, n) => ({
      file: `other-${n}.md`,
      text: memoryText(`matter number ${n}`, 'Nothing of importance.'),
    }))
    const place = placeIn(await folder())
    await plant(place, [packages, ...others])
    const memories = new MemoryRecall({
      sources: [folderSource({ ...machineFileSystem, ...disk }, place)],
      now: () => Date.now(),
      pause: async () => {},
    })
    const recall = { ...recallBy(memories, { isPatient: true }), patienceMs }
    const scene = await simulated(['done'])
    const session = await createEngine({ store: inMemoryStore(), modelId, model: scene.model, recall }).open()
    later(() => session.close())
    const { events } = await turn(session.send(question))
    return {
      isRecalled: bodyOf(scene.simulator.log.requests[0]).includes('Use pnpm to install'),
      said: events.flatMap((event) => (event.type === 'notice' ? [event.code] : [])),
    }
  }

  it('[RC40] where one request may be all there is it has the memory before the folder is read, waits not for ever, and says so', async () => {
    // A folder that does not answer before the turn is over; then a disk on which nothing does.
    let release = (): void => undefined
    const silent = new Promise<void>((resolve) => (release = resolve))
    const names: FileSystem['names'] = (path) => silent.then(() => machineFileSystem.names(path))
    expect(await first({ names }, 120_000)).toEqual({ isRecalled: true, said: [] })
    const open: FileSystem['open'] = (...how) => silent.then(() => machineFileSystem.open(...how))
    const late = await first({ open }, 150)
    release()
    expect(late).toEqual({ isRecalled: false, said: ['recall-late'] })
  })

  it('[RC28] what the selector chooses comes after the next tool results and leaves what was sent as it was', async () => {
    const stage = await staged([[call('look', {})], 'done'], [packages, release], { selector })
    await turn(stage.session.send('is anything special on Thursday?'))
    const [first, second] = mainOf(stage.scene)
    expect(bodyOf(first)).not.toContain('Merges stop')
    expect(bodyOf(second)).toContain('Merges stop')
    expect(bodyOf(second).indexOf('tool_result')).toBeLessThan(bodyOf(second).indexOf('Merges stop'))
    const messages = (request: LoggedRequest | undefined): readonly unknown[] =>
      (JSON.parse(bodyOf(request).replaceAll(/,"cache_control":\{[^}]*\}/gu, '')) as { messages: unknown[] })
        .messages
    expect(messages(second).slice(0, 1)).toEqual(messages(first))
    expect(await recallsOf(stage)).toEqual([['release.md']])
    expect(refusals(stage.scene)).toEqual([])
  })

  it('[RC41] without a person no selector is paid whose choice cannot arrive, and the words alone recall as without one', async () => {
    const once = await staged(['done'], [packages, release], { selector, isPatient: true })
    await turn(once.session.send(question))
    expect(selectionsOf(once.scene)).toEqual([])
    expect(bodyOf(mainOf(once.scene)[0])).toContain('Use pnpm to install')
    const twice = await staged([[call('look', {})], 'done'], [packages, release], {
      selector,
      isPatient: true,
    })
    await turn(twice.session.send('is anything special on Thursday?'))
    expect(selectionsOf(twice.scene)).toHaveLength(1)
    expect(bodyOf(mainOf(twice.scene)[1])).toContain('Merges stop')
  })

  it('[RC28] what comes after the answer goes with the next message', async () => {
    const stage = await staged(['one', 'two'], [packages, release], { selector })
    await turn(stage.session.send('is anything special on Thursday?'))
    await stage.chosen()
    expect(await recallsOf(stage)).toEqual([])
    await turn(stage.session.send('thanks'))
    const second = bodyOf(mainOf(stage.scene)[1])
    expect(second).toContain('Merges stop')
    expect(second.indexOf('thanks')).toBeLessThan(second.indexOf('Merges stop'))
  })

  it('[RC29] a selector that hangs is given up, and the ranker’s choice is delivered late', async () => {
    const stage = await staged(['one', 'two'], [packages, release], { selector })
    stage.scene.simulator.faults.add({
      at: ({ body }) => isSelection(body as WireRequest),
      fault: { kind: 'hang' },
    })
    await turn(stage.session.send('which packages are in the lockfile of pnpm?'))
    await stage.chosen()
    const { notices } = await turn(stage.session.send('thanks'))
    expect(notices).toContain('recall')
    expect(await recallsOf(stage)).toEqual([['packages.md']])
  })

  it('[RC30] an interrupted turn takes its selection along', async () => {
    const stage = await staged(['one', 'two'], [packages, release], { selector })
    stage.scene.simulator.faults.add({ at: () => true, times: 2, fault: { kind: 'hang' } })
    const stop = new AbortController()
    const running = turn(stage.session.send('is anything special on Thursday?', stop.signal))
    await until(() => stage.scene.simulator.log.requests.length === 2, 'the request and its selection')
    stop.abort()
    expect((await running).outcome).toBe('aborted')
    await turn(stage.session.send('thanks'))
    expect(await recallsOf(stage)).toEqual([])
  })

  it('[RC31] each message of the user is asked for once, and one word not at all', async () => {
    const stage = await staged(
      [[call('look', {})], [call('look', {})], 'one', 'two', 'three'],
      [packages, release],
      {
        selector,
      },
    )
    await turn(stage.session.send('tell me about gardens in spring'))
    expect(selectionsOf(stage.scene)).toHaveLength(1)
    await turn(stage.session.send('continue'))
    expect(selectionsOf(stage.scene)).toHaveLength(1)
    await turn(stage.session.send('and about roses, please'))
    await stage.chosen()
    expect(selectionsOf(stage.scene)).toHaveLength(2)
    expect(bodyOf(selectionsOf(stage.scene)[0])).not.toContain('Use pnpm to install')
  })

  it('[RC32] what is recalled stands once, until it has left the view', async () => {
    const stage = await staged(['one', 'two', 'three'], [packages])
    await turn(stage.session.send(question))
    await turn(stage.session.send(`again: ${question}`))
    expect(await recallsOf(stage)).toEqual([['packages.md']])
    const parts = stage.session.view().messages.at(0)!.parts
    expect(parts.some(({ memories }) => memories?.includes('packages.md'))).toBe(true)
    const first = stage.session.view().messages.at(0)!.from
    expect((await stage.session.rewind(seq(first - 1))).fact.type).toBe('rewind')
    await turn(stage.session.send(`once more: ${question}`))
    expect(await recallsOf(stage)).toEqual([['packages.md'], ['packages.md']])
  })

  it('[RC33] a fork recalls nothing', async () => {
    const stage = await staged(['one', 'forked'], [packages])
    await turn(stage.session.send('hello'))
    await stage.session.fork({ purpose: 'probe', directive: question })
    expect(bodyOf(mainOf(stage.scene)[1])).not.toContain('Use pnpm to install')
  })
})
