import { Module } from '@nestjs/common';
import { JobsModule } from '@app/jobs';
import { BuildHooks } from './build-hooks.js';
import { Publishing } from './publishing.js';

@Module({ imports: [JobsModule], providers: [BuildHooks, Publishing], exports: [BuildHooks, Publishing] })
export class PublishingModule {}
