import { Module } from '@nestjs/common';
import { Nudges } from './nudges.js';

@Module({ providers: [Nudges], exports: [Nudges] })
export class NudgesModule {}
