import { AgentError } from '@cobbler/agent';
import { ContractFailure, expectEqual } from '@cobbler/agent/testing';

/** Fails unless what is tried is refused as invalid with this code, whether it throws or rejects. */
export async function expectRefused(attempt: () => unknown, code: string, what: string): Promise<AgentError> {
  try {
    await attempt();
  } catch (error) {
    if (!AgentError.is(error))
      throw new ContractFailure(`${what}: expected an AgentError, found ${String(error)}`);
    expectEqual([error.kind, error.code], ['invalid', code], what);
    return error;
  }
  throw new ContractFailure(`${what}: expected to be refused as ${code}, and was not`);
}
