import type { MockReply, ProviderTesting, WireServer } from '@cobbler/agent/testing';
import { callBlock, replies, scriptResponse, serveLoopback, wireServer } from '@cobbler/agent/testing';
import { claudeTesting } from '@cobbler/provider-claude/testing';
import { onTestFinished } from 'vitest';

/** A local service that follows a script until the end of the test. */
export interface MockService {
  readonly url: string;
  readonly server: WireServer;
}

/** The key of the tests, which must never appear in any output. */
export const testKey = 'sk-ant-test-0123456789abcdefghij';

export async function mockService(
  script: readonly MockReply[],
  testing: ProviderTesting = claudeTesting,
): Promise<MockService> {
  const server = wireServer(testing, script, { secret: testKey });
  const { url, close } = await serveLoopback(server.handler);
  onTestFinished(() => close());
  return { url, server };
}

/** Returns an environment in which the CLI uses this service instead of Claude. */
export function claudeAt(service: MockService): Record<string, string> {
  return { ANTHROPIC_API_KEY: testKey, ANTHROPIC_BASE_URL: service.url, COBBLER_MODEL: 'claude:claude-test' };
}

let calls = 0;

/** Creates a response of text and tool calls. */
export function says(text: string, ...made: readonly (readonly [name: string, input: unknown])[]): MockReply {
  const blocks = made.map(([name, input]) => callBlock(`toolu_${++calls}`, name, input));
  return replies(scriptResponse([...(text === '' ? [] : [text]), ...blocks], { model: 'claude-test' }));
}
