// The shapes of secrets that carry their own mark: what a token begins with and what may follow.
// Every tail has an upper bound and no nested repetition, so one look at one place costs at most the tail's length;
// `redact` looks only where a word begins, which keeps the whole pass linear.

export interface SecretShape {
  readonly kind: string
  /** What the token begins with; one of these stands at the place where the look starts. */
  readonly starts: readonly string[]
  /** The whole token, begun at its start. A named group `value` limits what is taken out. */
  readonly token: RegExp
  /** What its line says before it; without that it is none. */
  readonly behind?: RegExp | undefined
}

const shape = (kind: string, starts: string, token: string): SecretShape => ({
  kind,
  starts: starts.split(' '),
  token: new RegExp(token, 'y'),
})

/** An option that holds a password, of the commands for which it does. */
const option = (starts: string, token: string, behind: RegExp): SecretShape => ({
  ...shape('password', starts, token),
  behind,
})

const base64Url = '[A-Za-z0-9_-]'
/** An option with its value behind a blank, `=` or nothing, quoted or not. */
const optionHead = (name: string): string => `${name}[ =]{0,4}["']?`
const optionValue = '(?<value>[^\\s"\'`$<>|&;-][^\\s"\'`$<>|&;]{3,200})'

/** Keys of those who answer, and of what is built around them. */
const models = [
  shape('anthropic-key', 'sk-ant-', `sk-ant-${base64Url}{20,200}`),
  shape('openrouter-key', 'sk-or-v1-', 'sk-or-v1-[0-9a-f]{64}'),
  shape('openai-key', 'sk-proj- sk-svcacct- sk-admin-', `sk-(?:proj|svcacct|admin)-${base64Url}{20,200}`),
  shape('openai-key', 'sk-', 'sk-(?=[A-Za-z]{0,40}[0-9])[A-Za-z0-9]{32,64}'),
  shape('groq-key', 'gsk_', 'gsk_[A-Za-z0-9]{40,64}'),
  shape('xai-key', 'xai-', 'xai-[A-Za-z0-9]{70,90}'),
  shape('perplexity-key', 'pplx-', 'pplx-[A-Za-z0-9]{40,64}'),
  shape('replicate-token', 'r8_', 'r8_[A-Za-z0-9]{37}'),
  shape('huggingface-token', 'hf_ api_org_', '(?:hf|api_org)_[A-Za-z0-9]{30,40}'),
  shape('langsmith-key', 'lsv2_', 'lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}'),
]

const codeHosts = [
  shape('github-token', 'ghp_ gho_ ghu_ ghs_ ghr_', 'gh[pousr]_[A-Za-z0-9]{36,255}'),
  shape('github-token', 'github_pat_', 'github_pat_[A-Za-z0-9_]{22,255}'),
  shape(
    'gitlab-token',
    'glpat- gldt- glrt- glptt- glsoat- glcbt- glft- glimt- glagent- gloas-',
    `gl(?:pat|dt|rt|ptt|soat|cbt|ft|imt|agent|oas)-${base64Url}{20,128}`,
  ),
  shape('bitbucket-token', 'ATBB', 'ATBB[A-Za-z0-9]{28,40}'),
  shape('atlassian-token', 'ATATT3 ATCTT3', 'AT[AC]TT3[A-Za-z0-9_=-]{60,250}'),
  shape('sourcegraph-token', 'sgp_', 'sgp_(?:[0-9a-f]{16}_)?[0-9a-f]{40}'),
  shape('npm-token', 'npm_', 'npm_[A-Za-z0-9]{36}'),
  shape('pypi-token', 'pypi-', `pypi-${base64Url}{50,250}`),
  shape('rubygems-key', 'rubygems_', 'rubygems_[0-9a-f]{48}'),
  shape('crates-token', 'cio', 'cio[A-Za-z0-9]{32}(?![A-Za-z0-9])'),
  shape('nuget-key', 'oy2', 'oy2[a-z0-9]{43}(?![A-Za-z0-9])'),
  shape('docker-token', 'dckr_pat_ dckr_oat_', `dckr_[po]at_${base64Url}{20,64}`),
  shape('buildkite-token', 'bkua_', 'bkua_[a-z0-9]{40}'),
  shape('circleci-token', 'CCIPAT_', 'CCIPAT_[A-Za-z0-9_]{40,100}'),
]

const clouds = [
  shape('aws-key-id', 'AKIA ASIA ABIA ACCA', 'A(?:KIA|SIA|BIA|CCA)[A-Z2-7]{16}(?![A-Za-z0-9])'),
  shape('dropbox-token', 'sl.', `sl\\.(?:u\\.)?${base64Url}{40,2000}`),
  shape('google-key', 'AIza', `AIza${base64Url}{35}`),
  shape('google-oauth', 'ya29.', `ya29\\.${base64Url}{20,400}`),
  shape('google-oauth', 'GOCSPX-', `GOCSPX-${base64Url}{20,40}`),
  shape('google-oauth', '1//0', `1//0${base64Url}{40,120}`),
  shape(
    'azure-key',
    'AccountKey= SharedAccessKey=',
    '(?:Account|SharedAccess)Key=(?<value>[A-Za-z0-9+/]{40,100}={0,2})',
  ),
  shape('azure-signature', 'sig=', 'sig=(?<value>[A-Za-z0-9%+/]{40,90}(?:%3D|=))'),
  shape('digitalocean-token', 'dop_v1_ doo_v1_ dor_v1_', 'do[opr]_v1_[0-9a-f]{64}'),
  shape('heroku-key', 'HRKU-', `HRKU-${base64Url}{36,80}`),
  shape('fly-token', 'fm1_ fm2_ fo1_', 'f(?:m[12]|o1)_[A-Za-z0-9+/=_,-]{40,800}'),
  shape('netlify-token', 'nfp_', 'nfp_[A-Za-z0-9]{36,64}'),
  shape('vercel-token', 'vercel_blob_rw_', 'vercel_blob_rw_[A-Za-z0-9_]{30,80}'),
  shape('supabase-key', 'sbp_ sb_secret_', `(?:sbp_[0-9a-f]{40}|sb_secret_${base64Url}{20,64})`),
  shape('planetscale-token', 'pscale_', `pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{32,64}`),
  shape('databricks-token', 'dapi', 'dapi[0-9a-f]{32}(?:-[0-9])?(?![A-Za-z0-9])'),
  shape('pulumi-token', 'pul-', 'pul-[0-9a-f]{40}'),
  shape(
    'doppler-token',
    'dp.',
    'dp\\.(?:pt|st|ct|sa|scim|audit)\\.(?:[a-z0-9_-]{2,35}\\.)?[A-Za-z0-9]{40,44}',
  ),
  shape('vault-token', 'hvs. hvb. hvr.', `hv[sbr]\\.${base64Url}{24,200}`),
  shape('tailscale-key', 'tskey-', 'tskey-[a-z]{2,12}-[A-Za-z0-9]{8,24}(?:-[A-Za-z0-9]{16,40})?'),
]

const services = [
  shape(
    'slack-token',
    'xoxa- xoxb- xoxp- xoxr- xoxs- xoxo- xoxe- xoxe.',
    'xox[abeoprs][.-][A-Za-z0-9.-]{10,250}',
  ),
  shape('slack-token', 'xapp-', 'xapp-[0-9]-[A-Za-z0-9-]{20,200}'),
  shape(
    'slack-webhook',
    'hooks.slack.com/',
    'hooks\\.slack\\.com/(?:services|workflows)/(?<value>[A-Za-z0-9+/_]{20,100})',
  ),
  shape('stripe-key', 'sk_live_ sk_test_ rk_live_ rk_test_', '[rs]k_(?:live|test)_[A-Za-z0-9]{16,200}'),
  shape('webhook-secret', 'whsec_', 'whsec_[A-Za-z0-9+/]{24,100}={0,2}'),
  shape('square-token', 'sq0atp- sq0csp-', `sq0(?:atp|csp)-${base64Url}{22,43}`),
  shape('shopify-token', 'shpat_ shpca_ shppa_ shpss_', 'shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}'),
  shape('sendgrid-key', 'SG.', `SG\\.${base64Url}{16,32}\\.${base64Url}{16,64}`),
  shape('twilio-key', 'SK', 'SK[0-9a-f]{32}(?![A-Za-z0-9])'),
  shape('mailgun-key', 'key-', 'key-[0-9a-f]{32}(?![A-Za-z0-9])'),
  shape('brevo-key', 'xkeysib-', 'xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}'),
  shape(
    'discord-webhook',
    'discord.com/ discordapp.com/',
    `discord(?:app)?\\.com/api/webhooks/(?<value>[0-9]{15,25}/${base64Url}{40,100})`,
  ),
  shape(
    'discord-token',
    'M N O',
    `[MNO][A-Za-z0-9]{23,25}\\.${base64Url}{6}\\.${base64Url}{27,38}(?!${base64Url})`,
  ),
  shape('linear-key', 'lin_api_', 'lin_api_[A-Za-z0-9]{40}'),
  shape('notion-token', 'ntn_ secret_', '(?:ntn_[A-Za-z0-9]{40,50}|secret_[A-Za-z0-9]{43}(?![A-Za-z0-9]))'),
  shape('figma-token', 'figd_', `figd_${base64Url}{36,48}`),
  shape('postman-key', 'PMAK-', 'PMAK-[0-9a-f]{24}-[0-9a-f]{34}'),
  shape('newrelic-key', 'NRAK- NRII-', `NR(?:AK|II)-${base64Url}{24,40}`),
  shape(
    'grafana-token',
    'glsa_ glc_',
    '(?:glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}|glc_[A-Za-z0-9+/]{32,400}={0,2})',
  ),
  shape('sentry-token', 'sntrys_ sntryu_', 'sntry[su]_[A-Za-z0-9+/=_]{40,250}'),
  shape('dynatrace-token', 'dt0c01. dt0s', 'dt0[cs][0-9]{2}\\.[A-Z2-7]{24}\\.[A-Z2-7]{64}'),
  shape('airtable-token', 'pat', 'pat[A-Za-z0-9]{14}\\.[0-9a-f]{64}'),
  shape('contentful-token', 'CFPAT-', `CFPAT-${base64Url}{43}`),
  shape('typeform-token', 'tfp_', `tfp_${base64Url}{40,80}`),
  shape('onepassword-token', 'ops_eyJ', `ops_eyJ${base64Url}{100,2000}={0,2}`),
  shape('age-key', 'AGE-SECRET-KEY-1', 'AGE-SECRET-KEY-1[0-9A-Z]{58}'),
]

/** Shapes of no one service: what HTTP, shells and files carry. */
const anywhere = [
  shape('jwt', 'eyJ', `eyJ${base64Url}{10,4000}\\.eyJ${base64Url}{10,8000}\\.${base64Url}{10,2000}`),
  shape(
    'bearer',
    'Bearer bearer BEARER',
    '[Bb][Ee][Aa][Rr][Ee][Rr][ ]{1,4}(?<value>(?=[A-Za-z_.~+/-]{0,200}[0-9])[A-Za-z0-9_.~+/-]{20,4000}={0,2})',
  ),
  shape(
    'basic-auth',
    'Basic basic',
    '[Bb]asic[ ]{1,4}(?<value>(?=[A-Za-z+/]{0,200}[0-9=])[A-Za-z0-9+/]{12,400}={0,2})(?![A-Za-z0-9_./-])',
  ),
  shape(
    'key',
    'client-key-data',
    'client-key-data\\\\?["\']?:[ ]{0,4}\\\\?["\']?(?<value>[A-Za-z0-9+/]{16,16384}={0,2})',
  ),
  // Base64 of a private key with its head, as configurations of clusters hold it.
  shape(
    'private-key',
    'LS0tLS1CRUdJTiB',
    'LS0tLS1CRUdJTiB(?:SU0EgUFJJVkFURSBLRVkt|QUklWQVRFIEtFWS0t|FQyBQUklWQVRFIEtFWS0t|PUEVOU1NIIFBSSVZBVEUgS0VZ|FTkNSWVBURUQgUFJJVkFURSBLRVkt)[A-Za-z0-9+/=]{0,16384}',
  ),
  shape(
    'password',
    '--password --passwd --pass',
    '--pass(?:wor|w)?d?[ ]{1,4}["\']?(?<value>(?=[^\\s0-9]{0,200}[0-9])[^\\s$<>|&;"\']{6,200})',
  ),
  option(
    '-u --user --proxy-user',
    `${optionHead('-(?:u|-user|-proxy-user)')}[^\\s:"'@/$]{1,80}:${optionValue}`,
    /\bcurl\b/,
  ),
  option('-p', `-p["']?${optionValue}`, /\b(?:mysql\w*|mariadb[\w-]*)\b[^|;&]*$/),
  option(
    '-p',
    `${optionHead('-p')}${optionValue}`,
    /\b(?:sshpass|docker login|podman login|helm registry login)\b[^|;&]*$/,
  ),
  option('-a', `${optionHead('-a')}${optionValue}`, /\bredis-cli\b[^|;&]*$/),
  option(
    '-w',
    `${optionHead('-w')}${optionValue}`,
    /\bldap(?:search|modify|add|delete|whoami|passwd)\b[^|;&]*$/,
  ),
  option('pass:', `pass:${optionValue}`, /-pass(?:in|out|phrase)?[ =]["']?$/),
  shape(
    'password',
    'login',
    'login[ \\t]{1,8}[^\\s]{1,100}(?:\\s{1,8}|[ \\t\\r]{0,4}\\n[^\\n]{0,120}?[ \\t:-])password[ \\t]{1,8}(?<value>[^\\s]{4,200})',
  ),
]

export const secretShapes: readonly SecretShape[] = [
  ...models,
  ...codeHosts,
  ...clouds,
  ...services,
  ...anywhere,
]

/** A name whose value is a secret, whatever it looks like. It must end the name: `tokens` and `token_type` are none. */
export const secretName =
  /(?:passw(?:or)?d|passwd|passphrase|pwd|secret|token|credentials?|api[_-]?key|(?:access|account|auth|client|encryption|master|private|secret|shared|signing)[_-]?key|secret_key_base)$/i

/** The names that hold what people choose themselves: shorter, and less like noise. */
export const passwordName = /(?:passw(?:or)?d|passwd|passphrase|pwd)$/i
