/** Headers with the remaining limits of the account; the last two contain the delay before a retry. */
export const rateLimitHeaders: readonly string[] = ['x-ratelimit-*', 'retry-after', 'retry-after-ms'];

/** Header with OpenAI's id of a request, which its support asks for. */
export const requestIdHeader = 'x-request-id';
