/** Headers that tell how much of the account's limits is left; the last two say when to come back. */
export const rateLimitHeaders: readonly string[] = ['x-ratelimit-*', 'retry-after', 'retry-after-ms'];

/** OpenAI's id of a request, wanted by its support. */
export const requestIdHeader = 'x-request-id';
