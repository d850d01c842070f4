import { Module } from '@nestjs/common';
import { AuditModule } from '@app/audit';
import { PeopleModule } from '@app/people';
import { ExportLinks } from './export-links.js';
import { Exports } from './exports.js';

@Module({ imports: [AuditModule, PeopleModule], providers: [Exports, ExportLinks], exports: [Exports, ExportLinks] })
export class ExportsModule {}
