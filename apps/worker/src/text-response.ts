/** Returns a response with one line of text. */
export function text(body: string, status: number): Response {
  return new Response(`${body}\n`, { status, headers: { 'content-type': 'text/plain; charset=utf-8' } });
}
