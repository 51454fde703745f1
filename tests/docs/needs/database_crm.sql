-- A database for statements that name it.
create database crm;
