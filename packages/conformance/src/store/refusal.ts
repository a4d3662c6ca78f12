import { AgentError } from '@cobbler/agent';
import { ContractFailure, expectEqual } from '@cobbler/agent/testing';

/** Fails unless the call throws or rejects with an error of kind invalid and this code. */
export async function expectRefused(attempt: () => unknown, code: string, what: string): Promise<AgentError> {
  try {
    await attempt();
  } catch (error) {
    if (!AgentError.is(error))
      throw new ContractFailure(`${what}: expected an AgentError, found ${String(error)}`);
    expectEqual([error.kind, error.code], ['invalid', code], what);
    return error;
  }
  throw new ContractFailure(`${what}: expected an error with code ${code}, found success`);
}
