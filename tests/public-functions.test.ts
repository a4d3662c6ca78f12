import { describePublicFunctions } from './public-functions/describe.ts';

describePublicFunctions({ every: 61 });
