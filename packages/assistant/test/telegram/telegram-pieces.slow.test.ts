import { describe } from 'vitest';
import { testParts } from './random-markdown.ts';

describe('random markdown', () => testParts(1000));
