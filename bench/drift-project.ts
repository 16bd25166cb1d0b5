// The project of `bench/drift-code.ts`: a small service in a real repository, what is remembered of it, what happens to it on
// which day, and noise that changes nothing of what is remembered. Written by the hand that wrote the checks, as somebody would
// say and do it; two of the facts that become false name nothing that a file shows.

type Files = Readonly<Record<string, string>>

export const project: Files = {
  'package.json': `{
  "name": "ledger-service",
  "scripts": { "check": "tsc && oxlint", "seed": "node scripts/seed.js", "test": "jest", "start": "node src/server.js" },
  "engines": { "node": ">=20" },
  "dependencies": { "bullmq": "5.1.0", "pg": "8.11.0", "pino": "9.0.0" },
  "devDependencies": { "jest": "29.7.0", "oxlint": "1.0.0", "typescript": "5.4.5" }
}
`,
  Dockerfile: 'FROM node:20-alpine\nWORKDIR /app\nCOPY . .\nCMD ["node", "src/server.js"]\n',
  '.github/workflows/ci.yml':
    'on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: npm run check\n',
  'config/app.json': '{ "defaultLocale": "de", "currency": "EUR", "apiKeyHeader": "X-Api-Key" }\n',
  'config/flags.yaml': 'newCheckout: true\nslowImport: false\n',
  'config/cron.yaml': 'nightly: "30 3 * * *"\n',
  'db/migrations/001-users.sql': 'create table users (id text primary key);\n',
  'scripts/deploy.sh': '#!/bin/sh\nkubectl apply -f k8s\n',
  'scripts/seed.js': "import { query } from '../src/db.js'\nawait query('insert into users')\n",
  'src/server.ts':
    "import { config } from './config.js'\nlisten(config.port)\nroute('/healthz', () => 'ok')\n",
  'src/config.ts': 'export const config = {\n  port: 8443,\n  cookieMinutes: 45,\n  maxUploadMb: 25,\n}\n',
  'src/limits.ts':
    'export const requestsPerMinute = 120\nexport const bankTimeoutSeconds = 20\nexport const webhookRetries = 5\n',
  'src/auth/session.ts': 'export function checkSession(id: string) {\n  return id !== ""\n}\n',
  'src/billing/invoice.ts': 'export function createInvoice(lines: Line[]) {\n  return { lines }\n}\n',
  'src/billing/payments.ts':
    "const url = process.env['PAYMENTS_API_URL']\nexport const pay = () => fetch(url)\n",
  'src/mail/templates.ts': 'export function renderTemplate(name: string) {\n  return name\n}\n',
  'src/money.ts':
    'export class Money {\n  constructor(readonly cents: number) {}\n}\nexport function parseAmount(text: string) {\n  return Number(text)\n}\n',
  'src/ids.ts': 'export function newId() {\n  return ulid()\n}\n',
  'src/queue.ts': "import { Queue } from 'bullmq'\nexport const queue = new Queue('jobs')\n",
  'src/worker/main.ts': "import { queue } from '../queue.js'\nqueue.run()\n",
  'src/importer/index.ts': 'export function importRows(rows: Row[]) {\n  return rows.length\n}\n',
  'src/generated/schema.ts': 'export type Schema = { users: User }\n',
  'src/api/rest.ts': "route('/v1/invoices', list)\n",
  'README.md': '# ledger service\n\nThe server listens on 8443, tests run with jest.\n',
}

export interface Fact {
  readonly says: string
  /** What happens to the project that makes it false, and on which day; left out where it stays true. */
  readonly falseBy?: { readonly day: number; readonly edit: Edit } | undefined
}

/** Files written, moved (`{ from, to }`), removed (null), or changed in place. */
export type Edit = readonly (
  | { readonly file: string; readonly replace: string; readonly by: string }
  | { readonly from: string; readonly to: string }
  | { readonly remove: string }
  | { readonly file: string; readonly text: string }
)[]

const manifest = 'package.json'

export const facts: readonly Fact[] = [
  {
    says: 'The HTTP server listens on port 8443.',
    falseBy: { day: 3, edit: [{ file: 'src/config.ts', replace: '8443', by: '9000' }] },
  },
  {
    says: 'Tests run with jest.',
    falseBy: {
      day: 4,
      edit: [
        { file: manifest, replace: '"test": "jest"', by: '"test": "vitest run"' },
        { file: manifest, replace: '"jest": "29.7.0"', by: '"vitest": "2.0.0"' },
      ],
    },
  },
  {
    says: 'npm run seed fills the development database.',
    falseBy: { day: 5, edit: [{ file: manifest, replace: '"seed"', by: '"db:fill"' }] },
  },
  {
    says: 'Session checks live in src/auth/session.ts.',
    falseBy: { day: 6, edit: [{ from: 'src/auth/session.ts', to: 'src/security/session.ts' }] },
  },
  {
    says: 'Every invoice is built by `createInvoice` in src/billing/invoice.ts.',
    falseBy: {
      day: 7,
      edit: [{ file: 'src/billing/invoice.ts', replace: 'createInvoice', by: 'buildInvoice' }],
    },
  },
  {
    says: 'We are on Node 20.',
    falseBy: {
      day: 9,
      edit: [
        { file: manifest, replace: '>=20', by: '>=22' },
        { file: 'Dockerfile', replace: 'node:20', by: 'node:22' },
      ],
    },
  },
  {
    says: 'The rate limiter allows 120 requests per minute.',
    falseBy: { day: 10, edit: [{ file: 'src/limits.ts', replace: '= 120', by: '= 60' }] },
  },
  {
    says: 'Feature flags are read from config/flags.yaml.',
    falseBy: { day: 11, edit: [{ remove: 'config/flags.yaml' }] },
  },
  {
    says: 'Deployments go through scripts/deploy.sh, nothing else.',
    falseBy: { day: 12, edit: [{ remove: 'scripts/deploy.sh' }] },
  },
  {
    says: 'bullmq is our queue library.',
    falseBy: {
      day: 14,
      edit: [
        { file: manifest, replace: '"bullmq": "5.1.0"', by: '"pg-boss": "10.0.0"' },
        { file: 'src/queue.ts', text: "import PgBoss from 'pg-boss'\nexport const queue = new PgBoss()\n" },
      ],
    },
  },
  {
    says: 'Session cookies expire after 45 minutes.',
    falseBy: { day: 15, edit: [{ file: 'src/config.ts', replace: '45', by: '30' }] },
  },
  {
    says: 'CI is defined in .github/workflows/ci.yml.',
    falseBy: { day: 16, edit: [{ from: '.github/workflows/ci.yml', to: '.gitlab-ci.yml' }] },
  },
  {
    says: 'Mails are rendered with renderTemplate().',
    falseBy: { day: 17, edit: [{ file: 'src/mail/templates.ts', replace: 'renderTemplate', by: 'render' }] },
  },
  {
    says: 'PAYMENTS_API_URL points to the payment service.',
    falseBy: {
      day: 19,
      edit: [{ file: 'src/billing/payments.ts', replace: 'PAYMENTS_API_URL', by: 'BILLING_API_URL' }],
    },
  },
  {
    says: 'The default locale is "de".',
    falseBy: { day: 20, edit: [{ file: 'config/app.json', replace: '"de"', by: '"en"' }] },
  },
  {
    says: 'Uploads are limited to 25 MB.',
    falseBy: { day: 21, edit: [{ file: 'src/config.ts', replace: '25', by: '50' }] },
  },
  {
    says: 'Types are checked with typescript 5.4.',
    falseBy: { day: 23, edit: [{ file: manifest, replace: '5.4.5', by: '5.6.2' }] },
  },
  {
    says: 'The entry point of the worker is src/worker/main.ts.',
    falseBy: { day: 24, edit: [{ from: 'src/worker/main.ts', to: 'src/jobs/run.ts' }] },
  },
  {
    says: 'Prices are kept in cents, by a class of our own for money.',
    falseBy: {
      day: 26,
      edit: [{ file: 'src/money.ts', replace: 'readonly cents: number', by: 'readonly amount: Decimal' }],
    },
  },
  {
    says: 'The public interface is REST, and we want it to stay so.',
    falseBy: {
      day: 27,
      edit: [
        { remove: 'src/api/rest.ts' },
        { file: 'src/api/graphql.ts', text: 'export const schema = buildSchema(source)\n' },
      ],
    },
  },

  { says: 'Migrations lie in db/migrations, one file each.' },
  { says: 'Postgres is the only database, through the pg package.' },
  { says: 'The linter is oxlint.' },
  { says: 'Run npm run check before every commit.' },
  { says: '`parseAmount` in src/money.ts rounds half to even.' },
  { says: 'Health checks are answered at /healthz.' },
  { says: 'Log lines are JSON, written by pino.' },
  { says: 'Failed webhooks are retried 5 times.' },
  { says: 'The staging host is called pelican.' },
  { says: 'Nadia reviews everything in src/billing.' },
  { says: 'The deadline of the audit is 2027-03-01.' },
  { says: 'Never commit to main directly.' },
  { says: 'The header for keys is X-Api-Key.' },
  { says: 'Calls to the bank time out after 20 seconds.' },
  { says: 'The frontend is another repository, only the API is here.' },
  { says: 'User ids are ULIDs and come from newId().' },
  { says: 'Do not show the diff of src/generated.' },
  { says: 'The nightly job runs at 3:30.' },
  { says: 'Amounts are in EUR unless the currency says otherwise.' },
  { says: 'Ben owns the importer in src/importer/index.ts.' },
]

/** What else happens, by day: nothing of it makes a fact false. */
export const noise: Readonly<Record<number, Edit>> = {
  2: [
    {
      file: 'src/importer/index.ts',
      text: 'export const importRows = (rows: Row[]) => rows.filter(Boolean).length\n',
    },
  ],
  4: [{ file: 'db/migrations/002-invoices.sql', text: 'create table invoices (id text);\n' }],
  8: [
    { file: 'src/limits.ts', replace: 'export const bankTimeoutSeconds = 20\n', by: '' },
    { file: 'src/bank/limits.ts', text: 'export const bankTimeoutSeconds = 20\n' },
  ],
  9: [{ file: manifest, replace: '"tsc && oxlint"', by: '"tsc --noEmit && oxlint --type-aware"' }],
  13: [
    { from: 'src/ids.ts', to: 'src/shared/ids.ts' },
    { file: 'src/generated/schema.ts', text: 'export interface Schema {\n  readonly users: User\n}\n' },
  ],
  15: [{ file: manifest, replace: '"pino": "9.0.0"', by: '"pino": "9.4.0", "zod": "3.23.0"' }],
  18: [
    {
      file: 'src/limits.ts',
      replace: 'export const webhookRetries = 5',
      by: 'export const webhookRetries = 5 as const',
    },
  ],
  20: [{ file: 'config/app.json', replace: '{ "default', by: '{\n  "default' }],
  22: [{ file: 'src/money.ts', replace: 'return Number(text)', by: 'return Math.round(Number(text) * 100)' }],
  25: [{ file: 'README.md', text: '# ledger service\n\nSee docs.\n' }],
  28: [{ file: 'src/server.ts', replace: "'ok'", by: '({ status: 200 })' }],
}
