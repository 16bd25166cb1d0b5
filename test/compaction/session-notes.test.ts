// Session notes over HTTP against the simulator: when they are written, by whom, what they may touch, and how they stand
// for a session that is compacted.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { defaultTemplate, sectionsIn } from '../../src/forks/notes/template.ts'
import { machineFileSystem } from '../../src/disk/fs.ts'
import { createEngine, fileStore, sessionNotes, type EngineOptions, type Session } from '../../src/index.ts'
import type { WireRequest } from '../../src/model/wire.ts'
import { standardLayers } from '../../src/projection/layers/index.ts'
import {
  call,
  jobOf,
  ruleModel,
  text,
  type Answerer,
  type RuleModelOptions,
  type ScheduledFault,
} from '../../src/simulator/index.ts'
import { standardTools } from '../../src/tools/index.ts'
import type { SessionId } from '../../src/transcript/ids.ts'
import type { Store } from '../../src/transcript/store.ts'
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

interface Desk {
  readonly scene: SimulatedApi
  readonly session: Session
  readonly store: Store
  readonly path: string
  readonly config: string
  readonly options: EngineOptions
}

let count = 0
const unique = (): string => `t${count++}`

async function opened(
  answerer: Answerer,
  options: Partial<EngineOptions> = {},
  faults: readonly ScheduledFault[] = [],
): Promise<Desk> {
  const scene = await simulated([], { answerer, faults })
  const root = await folder()
  const cwd = await folder()
  const config = join(await folder(), 'config')
  const store = fileStore({ root, fsync: 'none' })
  const standard = standardTools({
    fs: machineFileSystem,
    environment: {},
    unique,
    roots: [cwd],
  })
  later(() => standard.close())
  const folderOf = (id: SessionId): string => join(root, id)
  const whole: EngineOptions = {
    store,
    modelId,
    model: scene.model,
    cwd,
    tools: standard.tools,
    layers: standardLayers({ budget: false, microcompact: false }),
    notes: sessionNotes({ fs: machineFileSystem, folderOf, configFolder: config, unique }),
    ...options,
  }
  const session = await createEngine(whole).open()
  later(() => session.close())
  const path = join(folderOf(session.id), 'session-memory', 'summary.md')
  return { scene, session, store, path, config, options: whole }
}

const about = (tokens: number, what: string): string =>
  `${what}: ${'one more word about it. '.repeat(tokens / 6)}`
const jobs = ({ simulator }: SimulatedApi) =>
  simulator.log.requests.filter(({ body }) => jobOf(body as WireRequest) === 'notes')
const notesFacts = async ({ store, session }: Desk) =>
  ofType(await factsOf(store, session.id), 'notes-update')
const directiveOf = (request: { readonly body: unknown } | undefined): string => {
  const last = (request!.body as WireRequest).messages.findLast(({ role }) => role === 'user')!
  return JSON.stringify(last.content)
}

describe('notes of a session', () => {
  it('[SN14] begin at 10,000 tokens and go on with 5,000 more and a pause, from the template to words', async () => {
    const desk = await opened(ruleModel())
    await turn(desk.session.send(about(4000, 'the first wish')))
    expect(jobs(desk.scene)).toEqual([])
    expect(existsSync(desk.path)).toBe(false)
    await turn(desk.session.send(about(7000, 'the second wish')))
    await until(async () => (await notesFacts(desk)).length === 1)
    const asked = jobs(desk.scene).length
    const written = await readFile(desk.path, 'utf8')
    expect(sectionsIn(written).map(({ heading, guidance }) => [heading, guidance])).toEqual(
      sectionsIn(defaultTemplate).map(({ heading, guidance }) => [heading, guidance]),
    )
    expect(sectionsIn(written)[0]!.body).toContain('the first wish')
    const [first] = await notesFacts(desk)
    const last = [...desk.session.view().messages].at(-1)!
    expect(first!.coversTo).toBeGreaterThanOrEqual(last.to)
    await turn(desk.session.send(about(2000, 'a small wish')))
    expect(jobs(desk.scene).length).toBe(asked)
    await turn(desk.session.send(about(4500, 'a larger wish')))
    await until(async () => (await notesFacts(desk)).length === 2)
    expect(refusals(desk.scene)).toEqual([])
  })

  it('[SN14] in a long talk wait until a quarter of it is new, since an update reads all of it', async () => {
    const desk = await opened(ruleModel())
    await turn(desk.session.send(about(44_000, 'the first wish')))
    await until(async () => (await notesFacts(desk)).length === 1)
    const asked = jobs(desk.scene).length
    await turn(desk.session.send(about(7000, 'a wish above the least')))
    expect(jobs(desk.scene).length).toBe(asked)
    await turn(desk.session.send(about(12_000, 'a larger wish')))
    await until(async () => (await notesFacts(desk)).length === 2)
  })

  it('[SN15] are written by a fork on the cached prefix that is shown them and knows the file as read', async () => {
    const desk = await opened(ruleModel())
    await turn(desk.session.send(about(4000, 'the first wish')))
    await turn(desk.session.send(about(8000, 'the second wish')))
    await until(async () => (await notesFacts(desk)).length === 1)
    const [request] = jobs(desk.scene)
    expect(directiveOf(request)).toContain('# Session Title')
    expect(directiveOf(request)).toContain(desk.path)
    expect(request!.usage!.cache_read_input_tokens).toBeGreaterThan(9000)
    const end = ofType(await factsOf(desk.store, desk.session.id), 'fork-end').at(-1)
    expect(end).toMatchObject({ purpose: 'notes', outcome: 'done' })
  })

  it.each<[string, RuleModelOptions]>([
    ['tries other files', { mode: { notes: 'hostile' }, variant: 'escape' }],
    ['runs a command', { mode: { notes: 'hostile' }, variant: 'tool-call' }],
  ])(
    '[SN16] a fork that %s is refused; after three failures none are kept, which is said once',
    async (_, options) => {
      const notices: string[] = []
      const desk = await opened(ruleModel(options), {
        listen: (event) => void (event.type === 'notice' && notices.push(event.code)),
      })
      await turn(desk.session.send(about(11_000, 'the first wish')))
      const failures = async () =>
        ofType(await factsOf(desk.store, desk.session.id), 'fork-end').filter(
          ({ purpose }) => purpose === 'notes',
        ).length
      // A turn that ends before the job before it is over starts none: the next one does.
      await until(async () => {
        await turn(desk.session.send('a wish'))
        return (await failures()) === 3 && notices.includes('notes-off')
      })
      for (const wish of ['one more', 'and another']) await turn(desk.session.send(wish))
      expect(await failures()).toBe(3)
      expect(notices.filter((code) => code === 'notes-off')).toEqual(['notes-off'])
      expect(await readFile(desk.path, 'utf8')).toBe(defaultTemplate)
      expect(existsSync(join(dirname(desk.path), '..', '..', 'escaped.md'))).toBe(false)
      expect(await notesFacts(desk)).toEqual([])
    },
  )

  it('[SN16] a fork that edits a file of the project which the session has read is refused', async () => {
    const cwd = await folder()
    const file = join(cwd, 'a.txt')
    await writeFile(file, 'a good word\n')
    const wanted = { file_path: file, old_string: 'good', new_string: 'bad' }
    let asked = 0
    const desk = await opened(
      {
        answer: ({ request }) => {
          if (jobOf(request) === 'notes') return { content: [call('Edit', wanted)], stop_reason: 'tool_use' }
          return ++asked === 1
            ? { content: [call('Read', { file_path: file })], stop_reason: 'tool_use' }
            : { content: [text(about(11_000, 'a finding'))], stop_reason: 'end_turn' }
        },
      },
      { cwd },
    )
    await turn(desk.session.send('read the file'))
    const forks = async () => ofType(await factsOf(desk.store, desk.session.id), 'fork-end')
    await until(async () => (await forks()).length === 1)
    expect(await readFile(file, 'utf8')).toBe('a good word\n')
    expect(await notesFacts(desk)).toEqual([])
  })

  it('[SN17] follow a template and a prompt of the user’s own, filled in one pass', async () => {
    const desk = await opened(ruleModel())
    await mkdir(desk.config, { recursive: true })
    const template =
      '# Goals\n_What is wanted: $& {{notesPath}}_\n\n# Files\n_Which files._\n\n# Worklog\n_Steps._\n'
    await writeFile(join(desk.config, 'template.md'), template)
    await writeFile(
      join(desk.config, 'prompt.md'),
      'Update the notes of this session in {{notesPath}} with Edit. MY OWN WORDS $1 $$.\n<now>\n{{currentNotes}}\n</now>',
    )
    await turn(desk.session.send(about(11_000, 'the first wish')))
    await until(async () => (await notesFacts(desk)).length === 1)
    const asked = directiveOf(jobs(desk.scene)[0])
    expect(asked).toContain('MY OWN WORDS $1 $$.')
    // What stood in the notes is not filled a second time.
    expect(asked).toContain('$& {{notesPath}}')
    const written = await readFile(desk.path, 'utf8')
    expect(sectionsIn(written).map(({ heading }) => heading)).toEqual(['# Goals', '# Files', '# Worklog'])
    expect(written).toContain('the first wish')
  })

  it('[SN18] move their cursor only when the last answer they saw has its results', async () => {
    let release = (): void => undefined
    const held = new Promise<string>((resolve) => {
      release = () => resolve('slow but done')
    })
    const model = ruleModel()
    let asked = 0
    const answerer: Answerer = {
      answer: (context) => {
        if (jobOf(context.request) === 'notes') return model.answer(context)
        return ++asked === 1
          ? { content: [text('I will wait.'), call('Slow', {})], stop_reason: 'tool_use' }
          : { content: [text('It is done.')], stop_reason: 'end_turn' }
      },
    }
    const slow = tool('Slow', () => held)
    const desk = await opened(answerer)
    const engine = createEngine({ ...desk.options, tools: [...desk.options.tools!, slow] })
    const session = await engine.open()
    later(() => session.close())
    const running = turn(session.send(about(11_000, 'the first wish')))
    const ends = async () => ofType(await factsOf(desk.store, session.id), 'fork-end').length
    await until(async () => (await ends()) === 1)
    const before = await factsOf(desk.store, session.id)
    expect(ofType(before, 'notes-update')).toEqual([])
    const answer = before.findIndex((fact) => fact.type === 'assistant-message')
    release()
    await running
    await until(async () => ofType(await factsOf(desk.store, session.id), 'notes-update').length === 1)
    const [fact] = ofType(await factsOf(desk.store, session.id), 'notes-update')
    expect(fact!.coversTo).toBe(answer)
    expect(await ends()).toBe(1)
  })
})

describe('notes as the summary', () => {
  /** A session with notes, and with so much more after them. */
  async function noted(more: number, options: Partial<EngineOptions> = {}): Promise<Desk> {
    const desk = await opened(ruleModel(), options)
    for (const wish of ['first', 'second', 'third', 'fourth'])
      await turn(desk.session.send(about(4000, `the ${wish} wish`)))
    await until(async () => (await notesFacts(desk)).length > 0)
    await turn(desk.session.send(about(more, 'the last wish')))
    return desk
  }

  it('[SN19] take no request, keep what came after them, and name themselves on the boundary', async () => {
    const fired: string[] = []
    const desk = await noted(3000, {
      hooks: {
        fire: (name) => {
          fired.push(name)
          return Promise.resolve({ context: null, block: null, failures: [] })
        },
      },
    })
    const requests = desk.scene.simulator.log.requests.length
    const covers = (await notesFacts(desk)).at(-1)!.coversTo
    const after = [...desk.session.view().messages]
      .filter(({ from }) => from > covers)
      .map(({ content }) => content)
    const done = await desk.session.compact()
    expect(done.source).toBe('notes')
    expect(desk.scene.simulator.log.requests.length).toBe(requests)
    const [boundary] = ofType(await factsOf(desk.store, desk.session.id), 'boundary')
    expect(boundary).toMatchObject({ source: 'notes', trigger: 'manual' })
    const shown = [...desk.session.view().messages].map(({ content }) => content)
    expect(JSON.stringify(shown.slice(-after.length))).toBe(JSON.stringify(after))
    const first = JSON.stringify(shown[0])
    expect(first).toContain('from the notes kept during it')
    expect(first).toContain('# Current State')
    expect(fired).toContain('PostCompact')
    expect(fired).not.toContain('PreCompact')
    const ended = await turn(desk.session.send('go on'))
    expect(ended.outcome).toBe('done')
    expect(ended.notices).toEqual([])
  })

  it('[SN20] are left aside where instructions or a place are given, or where the switch is off', async () => {
    const desk = await noted(3000)
    expect((await desk.session.compact({ instructions: 'the wishes', dryRun: true })).source).toBe(
      'extractive',
    )
    const place = [...desk.session.view().messages].at(-2)!.from
    expect((await desk.session.compact({ upTo: place, dryRun: true })).source).toBe('extractive')
    expect((await desk.session.compact({ dryRun: true })).source).toBe('notes')
    const off = await noted(3000, { notesAsSummary: false })
    expect((await off.session.compact()).source).toBe('extractive')
  })

  it('[SN21] are not available where the result would lie near the threshold', async () => {
    const desk = await noted(3000, { threshold: 16_000 })
    const [boundary] = ofType(await factsOf(desk.store, desk.session.id), 'boundary')
    expect(boundary?.source).toBe('extractive')
  })

  it('[SN22] of what was taken back are not used, and a branch has none', async () => {
    const desk = await noted(3000)
    const [first] = [...desk.session.view().messages]
    await desk.session.rewind(first!.to)
    await turn(desk.session.send(about(6000, 'something else')))
    expect((await desk.session.compact({ dryRun: true })).source).toBe('extractive')
    const other = await noted(3000)
    const branch = await createEngine(other.options).branch(other.session.id)
    later(() => branch.close())
    expect((await branch.compact({ dryRun: true })).source).toBe('extractive')
  })

  it('[SN23] are known again when the session is opened again', async () => {
    const desk = await noted(3000)
    await desk.session.close()
    const again = await createEngine(desk.options).open(desk.session.id)
    later(() => again.close())
    expect((await again.compact()).source).toBe('notes')
  })

  it('[SN24] under way are waited for, but no longer than they may take', async () => {
    const isNotes = ({ body }: { readonly body: unknown }) => jobOf(body as WireRequest) === 'notes'
    let release = (): void => undefined
    const released = new Promise<void>((resolve) => (release = resolve))
    const talking: Answerer = {
      answer: async (context) => {
        if (isNotes({ body: context.request })) {
          await released
          return ruleModel().answer(context)
        }
        const size = JSON.stringify(context.request.messages.at(-1)).includes('wish 5') ? 8000 : 2300
        return { content: [text(about(size, 'a finding'))], stop_reason: 'end_turn' }
      },
    }
    const talked = async (...faults: ScheduledFault[]): Promise<Desk> => {
      const desk = await opened(talking, {}, faults)
      for (const n of [1, 2, 3, 4, 5]) await turn(desk.session.send(`wish ${n}`))
      expect(await notesFacts(desk)).toEqual([])
      return desk
    }
    const slow = await talked()
    const waiting = slow.session.compact()
    release()
    expect((await waiting).source).toBe('notes')
    const hung = await talked({ at: isNotes, times: 1, fault: { kind: 'hang' } })
    const stop = new AbortController()
    const compacting = hung.session.compact({}, stop.signal)
    const aborted = expect(compacting).rejects.toMatchObject({ code: 'aborted' })
    // What it waits for has been asked for and does not answer.
    await until(() => hung.scene.simulator.log.requests.some(isNotes))
    stop.abort()
    await aborted
  })
})
