import type { ProviderTesting, WireScript, WireServer } from '@cobbler/agent/testing';
import { serveLoopback, wireServer } from '@cobbler/agent/testing';

/** Runs a local service that plays a script until `use` settles. */
export async function withService(
  testing: ProviderTesting,
  script: WireScript,
  use: (service: Pick<WireServer, 'exchanges'> & { readonly url: string }) => Promise<void>,
): Promise<void> {
  const server = wireServer(testing, script);
  const loopback = await serveLoopback(server.handler);
  try {
    await use({ url: loopback.url, exchanges: server.exchanges });
  } finally {
    await loopback.close();
  }
}
