import { Module } from '@nestjs/common';
import { JobsModule } from '@app/jobs';
import { Publishing } from './publishing.js';

@Module({ imports: [JobsModule], providers: [Publishing], exports: [Publishing] })
export class PublishingModule {}
