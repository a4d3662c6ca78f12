/** A request with JSON. */
export interface JsonPost {
  readonly url: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Maximum time until the response starts, in milliseconds. */
  readonly timeoutMs: number;
}

/** Sends JSON, and follows no redirect. Returns why it was not accepted, with the host only: the address can be secret. */
export async function postJson({ url, body, headers, timeoutMs }: JsonPost): Promise<string | undefined> {
  const { host } = new URL(url);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.body?.cancel();
    return response.ok ? undefined : `${host} responded with ${response.status}`;
  } catch {
    return `${host} did not respond`;
  }
}
