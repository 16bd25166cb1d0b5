// What the adapter takes from the SDK, named one by one, so that the bundle leaves out the rest: the base client can
// post, and the classes for every resource of the API, three quarters of the package, are never asked for.
export { BaseAnthropic } from '@anthropic-ai/sdk'
export { Stream } from '@anthropic-ai/sdk/core/streaming'
