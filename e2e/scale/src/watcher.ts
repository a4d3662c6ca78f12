/** What a client has seen of a session. */
export interface Seen {
  readonly sessionId: string;
  readonly seqs: number[];
  readonly ids: string[];
  /** How often it went on at another process. */
  moves: number;
  isOver: boolean;
}

/**
 * Watches a session to its end: at one process, and when the connection breaks at the next one, from the place where it
 * was. It knows no more than an HTTP client does.
 */
export async function watchSession(sessionId: string, urls: readonly string[], seen: Seen): Promise<void> {
  for (let at = 0; !seen.isOver; at += 1) {
    const url = urls[at % urls.length] ?? '';
    const after = seen.seqs.at(-1) ?? 0;
    try {
      const response = await fetch(`${url}/events?session=${sessionId}&after=${after}`);
      await follow(response, seen);
    } catch {
      // The process is gone.
    }
    if (seen.isOver) return;
    seen.moves += 1;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function follow(response: Response, seen: Seen): Promise<void> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const { seq, id, type } = JSON.parse(line) as { seq: number; id: string; type: string };
      seen.seqs.push(seq);
      seen.ids.push(id);
      if (type === 'finished') seen.isOver = true;
    }
  }
}
