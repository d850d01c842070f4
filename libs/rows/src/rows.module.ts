import { Module } from '@nestjs/common';
import { Rows } from './rows.js';

@Module({ providers: [Rows], exports: [Rows] })
export class RowsModule {}
