import { describe } from 'vitest';
import { channelContract } from '../src/testing/index.ts';
import { contractSuite } from './contract-suite.ts';
import { memorySubject } from './memory-channel-subject.ts';
import { telegramSubject } from './telegram-subject.ts';

describe('channel contract: telegram', () => contractSuite(channelContract(telegramSubject)));
describe('channel contract: memory', () => contractSuite(channelContract(memorySubject)));
