// Formats in which secrets come, each with a value made anew: for tests that look whether any of it is left.

export type Random = () => number

// Drawn alike in every run of the tests; a long look (SECRET_RUNS) draws anew, and SECRET_SEED draws what one of them named.
const { SECRET_RUNS: runs, SECRET_SEED: seed } = process.env
export const secretRuns = Number(runs ?? 200)
export const secretSeed = Number(seed ?? (runs === undefined ? 1 : Date.now() % 1_000_000_007))

/** Numbers from a seed (mulberry32), so that a run can be made again. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

const lower = 'abcdefghijklmnopqrstuvwxyz'
const upper = lower.toUpperCase()
const digits = '0123456789'
const base62 = lower + upper + digits
const from =
  (chars: string) =>
  (random: Random, length: number): string =>
    Array.from({ length }, () => chars[Math.floor(random() * chars.length)]).join('')
const any = from(base62)
const hex = from('0123456789abcdef')
const url64 = from(`${base62}_-`)
const base64 = from(`${base62}+/`)
const letters = from(lower + upper)
const small = from(lower)
const caps = from(`${upper}234567`)

export interface Format {
  readonly name: string
  /** The text around a value, and the parts of it of which none may be left. */
  readonly make: (random: Random) => { readonly text: string; readonly parts: readonly string[] }
}

const one = (name: string, value: (random: Random) => string, around = (it: string) => it): Format => ({
  name,
  make: (random) => {
    const made = value(random)
    return { text: around(made), parts: [made] }
  },
})
const of = (name: string, mark: string, tail: (random: Random) => string, around?: (it: string) => string) =>
  one(name, (random) => mark + tail(random), around)
/** Marks are joined, so that no scanner takes this file for a leak. */
const mark = (...parts: readonly string[]) => parts.join('')
const esc = '\u001B'
const lines = (random: Random, count: number) => Array.from({ length: count }, () => base64(random, 64))

const marked: readonly Format[] = [
  of('anthropic', mark('sk-', 'ant-'), (r) => `api03-${url64(r, 80)}`),
  of('openai project', mark('sk-', 'proj-'), (r) => url64(r, 60)),
  of('openrouter', mark('sk-', 'or-v1-'), (r) => hex(r, 64)),
  of('groq', mark('gsk', '_'), (r) => any(r, 52)),
  of('hugging face', mark('hf', '_'), (r) => any(r, 34)),
  of('replicate', mark('r8', '_'), (r) => any(r, 37)),
  of('github', mark('ghp', '_'), (r) => any(r, 36)),
  of('github fine-grained', mark('github', '_pat_'), (r) => `${any(r, 22)}_${any(r, 59)}`),
  of('gitlab', mark('glpat', '-'), (r) => url64(r, 20)),
  of('bitbucket', mark('AT', 'BB'), (r) => any(r, 32)),
  of('atlassian', mark('ATA', 'TT3'), (r) => url64(r, 180)),
  of('npm', mark('npm', '_'), (r) => any(r, 36)),
  of('pypi', mark('pypi', '-'), (r) => url64(r, 120)),
  of('rubygems', mark('ruby', 'gems_'), (r) => hex(r, 48)),
  of('docker hub', mark('dckr', '_pat_'), (r) => url64(r, 27)),
  of('aws key id', mark('AK', 'IA'), (r) => caps(r, 16)),
  of('google api', mark('AI', 'za'), (r) => url64(r, 35)),
  of('google oauth', mark('ya', '29.'), (r) => url64(r, 100)),
  of('google client secret', mark('GOC', 'SPX-'), (r) => url64(r, 28)),
  of('digital ocean', mark('dop', '_v1_'), (r) => hex(r, 64)),
  of('dropbox', mark('s', 'l.'), (r) => url64(r, 136)),
  of('dropbox unified', mark('s', 'l.u.'), (r) => url64(r, 136)),
  of('fly', mark('fm2', '_'), (r) => any(r, 90)),
  of('netlify', mark('nfp', '_'), (r) => any(r, 40)),
  of('supabase', mark('sbp', '_'), (r) => hex(r, 40)),
  of('databricks', mark('da', 'pi'), (r) => hex(r, 32)),
  of('doppler', mark('dp.', 'pt.'), (r) => any(r, 43)),
  of('vault', mark('hv', 's.'), (r) => url64(r, 90)),
  of('tailscale', mark('ts', 'key-auth-'), (r) => `${any(r, 12)}-${any(r, 30)}`),
  of('slack', mark('xo', 'xb-'), (r) => `${from(digits)(r, 12)}-${any(r, 24)}`),
  of('stripe', mark('sk', '_live_'), (r) => any(r, 24)),
  of('shopify', mark('shp', 'at_'), (r) => hex(r, 32)),
  of('sendgrid', mark('S', 'G.'), (r) => `${url64(r, 22)}.${url64(r, 43)}`),
  of(
    'telegram',
    '',
    (r) => `AA${url64(r, 33)}`,
    (it) => `https://api.telegram.org/bot123456789:${it}/getMe`,
  ),
  of('linear', mark('lin', '_api_'), (r) => any(r, 40)),
  of('notion', mark('ntn', '_'), (r) => any(r, 46)),
  of('figma', mark('figd', '_'), (r) => url64(r, 40)),
  of('grafana', mark('gl', 'sa_'), (r) => `${any(r, 32)}_${hex(r, 8)}`),
  of('jwt', mark('ey', 'J'), (r) => `${url64(r, 30)}.eyJ${url64(r, 60)}.${url64(r, 43)}`),
]

/** A value behind a name: with and without digits, from any first sign. */
const named: readonly Format[] = [
  one(
    'DB_PASSWORD= 16',
    (r) => any(r, 16),
    (it) => `DB_PASSWORD=${it}\n`,
  ),
  one(
    'DB_PASSWORD= letters',
    (r) => letters(r, 16),
    (it) => `A=1\nDB_PASSWORD=${it}\nB=2\n`,
  ),
  one(
    'DB_PASSWORD= small letters',
    (r) => small(r, 12),
    (it) => `DB_PASSWORD=${it}`,
  ),
  one(
    'DB_PASSWORD= quoted with blanks',
    (r) => `${small(r, 6)} ${small(r, 5)} ${small(r, 7)}`,
    (it) => `DB_PASSWORD="${it}"\n`,
  ),
  one(
    'export PASSWORD',
    (r) => letters(r, 14),
    (it) => `export MYSQL_PASSWORD=${it}`,
  ),
  one(
    'aws secret',
    (r) => base64(r, 40),
    (it) => `AWS_SECRET_ACCESS_KEY=${it}\n`,
  ),
  one(
    'aws secret from a slash',
    (r) => `/${base64(r, 39)}`,
    (it) => `aws_secret_access_key = ${it}\n`,
  ),
  one(
    'npm authToken',
    (r) => any(r, 36),
    (it) => `//registry.example/:_authToken=${it}\n`,
  ),
  one(
    'json password',
    (r) => any(r, 16),
    (it) => `{"user":"a","password":"${it}"}`,
  ),
  one(
    'json password letters',
    (r) => letters(r, 24),
    (it) => `{"password": "${it}"}`,
  ),
  one(
    'json in json',
    (r) => any(r, 20),
    (it) => JSON.stringify(JSON.stringify({ client_secret: it })),
  ),
  one(
    'yaml password',
    (r) => any(r, 18),
    (it) => `db:\n  password: ${it}\n`,
  ),
  one(
    'x-api-key',
    (r) => any(r, 32),
    (it) => `x-api-key: ${it}\r\n`,
  ),
  one(
    'API_TOKEN',
    (r) => any(r, 32),
    (it) => `CLOUDFLARE_API_TOKEN=${it}\n`,
  ),
  one(
    'API_TOKEN letters',
    (r) => letters(r, 40),
    (it) => `CLOUDFLARE_API_TOKEN=${it}\n`,
  ),
  one(
    'apiKey in code',
    (r) => any(r, 32),
    (it) => `const client = make({ apiKey: '${it}' })`,
  ),
  one(
    'query',
    (r) => any(r, 32),
    (it) => `GET https://api.example.test/v1?access_token=${it}&page=2`,
  ),
  one(
    'bearer',
    (r) => url64(r, 40),
    (it) => `Authorization: Bearer ${it}`,
  ),
  one(
    'basic',
    (r) => base64(r, 28),
    (it) => `authorization: Basic ${it}==`,
  ),
  one(
    'authorization token',
    (r) => any(r, 40),
    (it) => `Authorization: Token ${it}`,
  ),
  one(
    'password with a quote in it',
    (r) => `${any(r, 6)}'${any(r, 8)}7`,
    (it) => `password = "${it}"`,
  ),
  one(
    'element',
    (r) => any(r, 14),
    (it) => `<server><password>${it}</password></server>`,
  ),
  one(
    'element letters',
    (r) => letters(r, 20),
    (it) => `<password>${it}</password>`,
  ),
]

const carried: readonly Format[] = [
  one(
    'Set-Cookie',
    (r) => any(r, 32),
    (it) => `Set-Cookie: session=${it}; Path=/; HttpOnly`,
  ),
  one(
    'set-cookie letters',
    (r) => letters(r, 32),
    (it) => `< set-cookie: sid=${it}; Secure`,
  ),
  {
    name: 'Cookie',
    make: (r) => {
      const [a, b] = [any(r, 26), any(r, 40)]
      return { text: `Cookie: sid=${a}; csrftoken=${b}\n`, parts: [a, b] }
    },
  },
  one(
    'cookie in json',
    (r) => any(r, 32),
    (it) => `{"cookie": "connect.sid=${it}"}`,
  ),
  one(
    'kube client key',
    (r) => base64(r, 400),
    (it) => `    client-key-data: ${it}==\n`,
  ),
  one(
    'kube client key of a pem',
    (r) => base64(r, 200),
    (it) => `key: ${Buffer.from(mark('-----BEGIN ', `RSA PRIVATE KEY-----\n${it}\n`)).toString('base64')}`,
  ),
  {
    name: 'putty',
    make: (r) => {
      const parts = lines(r, 8)
      return {
        text: `PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 8\n${parts.join('\n')}\nPrivate-MAC: ${hex(r, 64)}\n`,
        parts,
      }
    },
  },
  {
    name: 'pem',
    make: (r) => {
      const parts = lines(r, 20)
      const name = 'RSA PRIVATE KEY'
      return { text: `-----BEGIN ${name}-----\n${parts.join('\n')}\n-----END ${name}-----\n`, parts }
    },
  },
  one(
    'curl -u',
    (r) => any(r, 12),
    (it) => `curl -s -u admin:${it} https://example.test/`,
  ),
  one(
    'curl -u quoted',
    (r) => letters(r, 12),
    (it) => `$ curl -u "admin:${it}" https://example.test/`,
  ),
  one(
    'curl --user',
    (r) => any(r, 12),
    (it) => `curl --user admin:${it} https://example.test/`,
  ),
  one(
    'mysql -p',
    (r) => any(r, 12),
    (it) => `mysql -h db -u root -p${it} shop`,
  ),
  one(
    'mysqldump -p letters',
    (r) => letters(r, 12),
    (it) => `mysqldump -uroot -p'${it}' shop > x.sql`,
  ),
  one(
    'sshpass',
    (r) => letters(r, 12),
    (it) => `sshpass -p ${it} ssh root@host`,
  ),
  one(
    'sshpass quoted',
    (r) => any(r, 12),
    (it) => `sshpass -p '${it}' scp a b:`,
  ),
  one(
    'redis-cli',
    (r) => any(r, 20),
    (it) => `redis-cli -h cache -a ${it} ping`,
  ),
  one(
    'url password',
    (r) => any(r, 14),
    (it) => `postgres://app:${it}@db.internal:5432/main`,
  ),
  one(
    'url password with a slash',
    (r) => `${any(r, 6)}/${any(r, 6)}`,
    (it) => `DATABASE_URL=postgres://app:${it}@db:5432/main`,
  ),
  one(
    'url password with a quote',
    (r) => `${any(r, 6)}'${any(r, 6)}`,
    (it) => `url: mysql://app:${it}@db/main`,
  ),
  one(
    'netrc',
    (r) => any(r, 16),
    (it) => `machine example.test\n  login me\n  password ${it}\n`,
  ),
  {
    name: 'coloured in the middle',
    make: (r) => {
      const [a, b] = [any(r, 18), any(r, 18)]
      return { text: `x ${mark('ghp', '_')}${esc}[01;31m${esc}[K${a}${esc}[m${esc}[K${b} y`, parts: [a, b] }
    },
  },
  one(
    'behind a colour',
    (r) => any(r, 36),
    (it) => `${esc}[32m${mark('ghp', '_')}${it}${esc}[0m`,
  ),
  one(
    'coloured value',
    (r) => any(r, 20),
    (it) => `${esc}[36mpassword${esc}[0m: ${esc}[33m${it}${esc}[0m`,
  ),
  one(
    'in a quoted url',
    (r) => any(r, 36),
    (it) => `"https://x:${mark('ghp', '_')}${it}@github.com/a/b.git"`,
  ),
]

export const formats: readonly Format[] = [...marked, ...named, ...carried]
