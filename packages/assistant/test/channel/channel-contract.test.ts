import { describeContract } from '@cobbler/conformance';
import { describe, it } from 'vitest';
import { channelContract } from '../../src/testing/index.ts';
import { telegramSubject } from '../telegram/telegram-subject.ts';
import { memorySubject } from './memory-channel-subject.ts';

describe('channel contract: telegram', () =>
  describeContract(channelContract(telegramSubject), { describe, it }));
describe('channel contract: memory', () =>
  describeContract(channelContract(memorySubject), { describe, it }));
