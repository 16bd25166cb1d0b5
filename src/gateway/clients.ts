// How each client is pointed at a gateway for the time of one run: by its environment, by flags, or by a configuration of its
// own that is named to it and removed afterwards. Nothing of the person's own configuration is written.
import type { WireName } from '../model/model.ts'

/** What a run of a client needs beside what the person typed. */
export interface Pointing {
  readonly environment: Readonly<Record<string, string>>
  /** Put before the person's own arguments. */
  readonly before: readonly string[]
  /** Files for a folder of their own, by name; `{folder}` in the environment and the arguments names it. */
  readonly files?: Readonly<Record<string, string>> | undefined
  /** Said before it starts. */
  readonly note?: string | undefined
}
export interface ClientRow {
  readonly name: string
  /** `keptFolder` is where results lie that were cut; null where nothing is. */
  readonly point: (url: string, keptFolder: string | null) => Pointing
}

const clientRows: readonly ClientRow[] = [
  {
    name: 'claude',
    point: (url, keptFolder) => ({
      environment: { ANTHROPIC_BASE_URL: url, CLAUDE_CODE_GATEWAY_HINT_HEADERS: '1' },
      // In one word: in two it would take a prompt behind it for another folder.
      before: keptFolder === null ? [] : [`--add-dir=${keptFolder}`],
    }),
  },
  {
    name: 'opencode',
    point: (url) => ({
      environment: { OPENCODE_CONFIG: '{folder}/opencode.json' },
      before: [],
      files: {
        'opencode.json': JSON.stringify({
          provider: {
            anthropic: { options: { baseURL: `${url}/v1` } },
            openai: { options: { baseURL: `${url}/v1` } },
            google: { options: { baseURL: `${url}/v1beta` } },
          },
        }),
      },
    }),
  },
  {
    name: 'pi',
    point: (url) => ({
      environment: {},
      before: ['-e', '{folder}/palimpsest.mjs'],
      files: {
        'palimpsest.mjs': [
          'export default function (pi) {',
          `  pi.registerProvider('anthropic', { baseUrl: ${JSON.stringify(url)} })`,
          `  pi.registerProvider('openai', { baseUrl: ${JSON.stringify(`${url}/v1`)} })`,
          `  pi.registerProvider('google', { baseUrl: ${JSON.stringify(`${url}/v1beta`)} })`,
          '}',
          '',
        ].join('\n'),
      },
    }),
  },
  {
    name: 'codex',
    point: (url) => ({
      environment: {},
      before: [
        '-c',
        'model_provider="palimpsest"',
        '-c',
        `model_providers.palimpsest={name="palimpsest", base_url="${url}/v1", wire_api="responses", env_key="OPENAI_API_KEY"}`,
      ],
      note: 'codex uses OPENAI_API_KEY behind the gateway, not a ChatGPT subscription',
    }),
  },
  {
    name: 'gemini',
    point: (url) => ({
      // Defaults of the machine, below whatever the person has chosen: with another address it would ask for no key at all.
      environment: { GOOGLE_GEMINI_BASE_URL: url, GEMINI_CLI_SYSTEM_DEFAULTS_PATH: '{folder}/gemini.json' },
      before: [],
      files: { 'gemini.json': JSON.stringify({ security: { auth: { selectedType: 'gemini-api-key' } } }) },
    }),
  },
]

/** Qwen Code, and any program we know nothing of: the variables that the vendors' SDKs read. */
const anyProgram = (url: string): Pointing => ({
  environment: { ANTHROPIC_BASE_URL: url, OPENAI_BASE_URL: `${url}/v1`, GOOGLE_GEMINI_BASE_URL: url },
  before: [],
})

/** The name of a program without its folder and ending. */
export const programName = (command: string): string =>
  (command.split(/[\\/]/u).at(-1) ?? command).replace(/\.(?:exe|cmd|js|mjs)$/iu, '')

/** How a command is pointed at the gateway. */
export const pointingFor = (command: string, url: string, keptFolder: string | null): Pointing =>
  clientRows.find(({ name }) => name === programName(command))?.point(url, keptFolder) ?? anyProgram(url)

/** Where requests go where nobody says otherwise. */
export const vendorUpstreams: Readonly<Record<WireName, string>> = {
  anthropic: 'https://api.anthropic.com',
  'openai-chat': 'https://api.openai.com',
  'openai-responses': 'https://api.openai.com',
  gemini: 'https://generativelanguage.googleapis.com',
}
/** The variables by which a person has set another one. */
export const upstreamVariables: Readonly<Record<WireName, string>> = {
  anthropic: 'ANTHROPIC_BASE_URL',
  'openai-chat': 'OPENAI_BASE_URL',
  'openai-responses': 'OPENAI_BASE_URL',
  gemini: 'GOOGLE_GEMINI_BASE_URL',
}
